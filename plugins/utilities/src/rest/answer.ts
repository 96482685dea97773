import { FatalError, type HttpAnswer } from '@baton/plugin-sdk';
import { XMLParser } from 'fast-xml-parser';
import { type Dict, dictOf, type Json, setKey } from '../json';
import type { Call } from './call';
import { checkAnswer } from './expect';
import { translate } from './translate';

/**
 * Reads an answer as its call says: checks it, and takes parts of it into `result`. An answer without content has no parts.
 * @throws FatalError, RetryableError as the rules of the call say
 */
export function readAnswer(answer: HttpAnswer, call: Call, result: Dict): void {
  const { translation_format: format } = call;
  translate(byName(answer.headers, call.header_translation), call.header_translation, format, result);
  if (Object.keys(answer.cookies).length > 0)
    translate({ ...answer.cookies }, call.cookies_translation, format, result);
  const kind = formatOf(answer, call);
  if (kind === 'raw') return;
  if (kind === 'text') {
    setKey(result, 'text', answer.text);
    return;
  }
  if (answer.text.trim() === '') return;
  const content = kind === 'xml' ? fromXml(answer.text) : answer.json();
  if (isEmpty(content)) return;
  checkAnswer(content, call);
  translate(content, call.response_translation, format, result);
}

/** Headers come in small letters; rules name them as their authors like. */
function byName(headers: Readonly<Record<string, string>>, rules: Json | undefined): Dict {
  const named: Dict = { ...headers };
  for (const name of Object.keys(dictOf(rules))) {
    const value = headers[name.toLowerCase()];
    if (value !== undefined) setKey(named, name, value);
  }
  return named;
}

type AnswerFormat = 'json' | 'xml' | 'text' | 'raw';
const FORMATS: readonly string[] = ['json', 'xml', 'text', 'raw'];

/** Answers of other kinds than XML are taken for JSON, as always. */
function formatOf(answer: HttpAnswer, { response_format: asked }: Call): AnswerFormat {
  const format = asked.toLowerCase();
  if (FORMATS.includes(format)) return format as AnswerFormat;
  if (format !== 'auto')
    throw new FatalError(`response_format: "${asked}"; expected one of auto, ${FORMATS.join(', ')}`);
  return /^(text|application)\/xml\b/.test((answer.headers['content-type'] ?? '').toLowerCase())
    ? 'xml'
    : 'json';
}

const isEmpty = (content: Json): boolean =>
  !content || (typeof content === 'object' && Object.keys(content).length === 0);

/** Deepest nesting of elements. */
const MAX_DEPTH = 200;

/**
 * XML as a dictionary: attributes are `@name`, text beside them is `#text`, elements of one name are a list, and an empty element is
 * null. All values are texts.
 * @throws FatalError when it cannot be read, and for entities of its own, which could make a short text a long one
 */
export function fromXml(text: string): Json {
  if (/<!ENTITY/i.test(text)) throw new FatalError('the answer declares XML entities, which are not read');
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    textNodeName: '#text',
    parseTagValue: false,
    parseAttributeValue: false,
    ignoreDeclaration: true,
    ignorePiTags: true,
    trimValues: true,
  });
  try {
    return withNulls(parser.parse(text, true) as Json, 0);
  } catch (cause) {
    throw new FatalError(`the answer is no XML that can be read: ${(cause as Error).message}`, { cause });
  }
}

/** Empty elements as null. The text of an attribute may be empty. */
function withNulls(value: Json, depth: number): Json {
  if (depth > MAX_DEPTH) throw new Error(`elements are nested deeper than ${MAX_DEPTH}`);
  if (Array.isArray(value)) return value.map((one) => withNulls(one, depth + 1));
  if (typeof value !== 'object' || value === null) return value === '' ? null : value;
  const dict: Dict = {};
  for (const [key, one] of Object.entries(value))
    setKey(dict, key, key.startsWith('@') ? one : withNulls(one, depth + 1));
  return dict;
}

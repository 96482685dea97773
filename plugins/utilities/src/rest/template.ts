import { FatalError } from '@baton/plugin-sdk';
import { isScalar, parseDocument, type ScalarTag, visit, type Tags as YamlTags } from 'yaml';
import { type Dict, isDict, type Json, setKey } from '../json';

/** Fills a template of Jinja; as the scope of an operation does. */
export type Render = (text: string, variables: Dict) => Promise<string>;

/** Stands between the texts of one call while they are rendered together. No file of text holds it. */
const BETWEEN = '\u0001\u0002baton\u0002\u0001';

/**
 * The calls of a template, as YAML.
 * @throws FatalError for a text that is no such YAML. `name`: the file, for errors
 */
export function callsOf(text: string, name: string): Json[] {
  const read = fromYaml(text, name);
  if (read === null) return [];
  const calls = isDict(read) ? read.rest_calls : undefined;
  if (calls === undefined || calls === null) return [];
  if (!Array.isArray(calls)) throw new FatalError(`${name}: rest_calls must be a list`);
  return calls;
}

const flag = (value: boolean, test: RegExp): ScalarTag => ({
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test,
  resolve: () => value,
});

/** YAML 1.1 as the original reads it: `y` and `n` are texts. A date stays a text too, since JSON has no dates. */
const asPython = (tags: YamlTags): YamlTags => [
  flag(true, /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/),
  flag(false, /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/),
  ...tags.filter((tag) => typeof tag === 'string' || !/:(timestamp|bool)$/.test(tag.tag)),
];

function fromYaml(text: string, name: string): Json {
  try {
    const document = parseDocument(text, { version: '1.1', merge: true, customTags: asPython });
    const [mistake] = document.errors;
    if (mistake !== undefined) throw mistake;
    visit(document, {
      Pair: (_, { key }) => {
        if (!isScalar(key)) throw new Error('{{ }} without quotes writes YAML, which needs prerender: true');
      },
    });
    return JSON.parse(JSON.stringify(document.toJS() ?? null)) as Json;
  } catch (cause) {
    throw new FatalError(`${name}: ${(cause as Error).message.split('\n')[0]}`, { cause });
  }
}

/**
 * Renders the texts of a call, all at once: a value set in one is known in those behind it. A text stays a text. A text that is a block,
 * from `{%` to `%}`, becomes the value that is written in its place: a list, a dictionary, a number; nothing becomes null.
 * @throws FatalError for a wrong template, and for a block that gives no value
 */
export async function rendered(call: Json, variables: Dict, render: Render): Promise<Json> {
  const texts: string[] = [];
  collect(call, texts);
  if (!texts.some((text) => /\{[{%#]/.test(text))) return call;
  const whole = await render(`${texts.join(BETWEEN)}${BETWEEN}`, variables);
  const made = whole.split(BETWEEN).slice(0, -1);
  if (made.length !== texts.length)
    throw new FatalError('a block of the template begins in one value of a call and ends in another one');
  let at = 0;
  const next = (text: string): Json => {
    const filled = made[at++]!;
    return isBlock(text) ? writtenValue(filled) : filled;
  };
  return fill(call, next);
}

/** Texts that may be templates, keys too, in a fixed order. */
function collect(value: Json, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  else if (Array.isArray(value)) for (const one of value) collect(one, texts);
  else if (value !== null && typeof value === 'object')
    for (const [key, one] of Object.entries(value)) {
      texts.push(key);
      collect(one, texts);
    }
}

function fill(value: Json, next: (text: string) => Json): Json {
  if (typeof value === 'string') return next(value);
  if (Array.isArray(value)) return value.map((one) => fill(one, next));
  if (value === null || typeof value !== 'object') return value;
  const dict: Dict = {};
  for (const [key, one] of Object.entries(value)) {
    const name = next(key);
    setKey(dict, typeof name === 'string' ? name : JSON.stringify(name), fill(one, next));
  }
  return dict;
}

const isBlock = (text: string): boolean => text.startsWith('{%') && text.endsWith('%}');

/** The value that a block wrote, as JSON or as Python writes it. */
function writtenValue(text: string): Json {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  try {
    return JSON.parse(trimmed) as Json;
  } catch {
    // Python's way: {'a': True, 'b': None}
  }
  const read = fromYaml(trimmed, 'a block of the template');
  return noneAsNull(read);
}

function noneAsNull(value: Json): Json {
  if (value === 'None') return null;
  if (Array.isArray(value)) return value.map(noneAsNull);
  if (!isDict(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, noneAsNull(one)]));
}

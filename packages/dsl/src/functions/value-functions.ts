import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { diagnostic } from '../diagnostics/diagnostic';
import { DslError, fail } from '../diagnostics/dsl-error';
import { setOwn } from '../yaml/node';
import { failedFunction, type Handler, type Outcome } from './evaluator';
import { pythonText } from './python-text';
import { type FunctionName, isFunction } from './registry';

/** Functions that depend only on their arguments: concat, merge and the string functions (reference 4). */

const TEXT_MAX = 4_000_000;

function bounded(text: string, path: string): Outcome {
  if (text.length <= TEXT_MAX) return { value: text };
  throw new DslError(
    diagnostic('limit_exceeded', 'the text made by functions is too long', {
      path,
      expected: `at most ${TEXT_MAX} characters`,
    }),
  );
}

function concat(args: Json, path: string): Outcome {
  const items = args as Json[];
  if (items.some((a) => isFunction(a))) return 'deferred';
  let length = 0;
  const texts = items.map((a) => {
    const text = pythonText(a);
    length += text.length;
    if (length > TEXT_MAX) bounded(' '.repeat(TEXT_MAX + 1), path);
    return text;
  });
  return bounded(texts.join(''), path);
}

function merge(args: Json, path: string): Outcome {
  const items = args as Json[];
  if (items.some((a) => isFunction(a))) return 'deferred';
  const result: JsonObject = {};
  for (const item of items) {
    if (!isJsonObject(item))
      fail('function_argument', 'merge: an argument is no dict', { path, value: item, expected: 'dict' });
    for (const key of Object.keys(item as JsonObject)) setOwn(result, key, (item as JsonObject)[key]!);
  }
  return { value: result };
}

/** Returns the arguments of a string function, all known and of the right type: strings, after `texts` of them a whole number. */
function known(name: FunctionName, args: Json, texts: number, path: string): (string | number)[] {
  return (Array.isArray(args) ? args : [args]).map((item, i) => {
    const value = i >= texts && typeof item === 'boolean' ? Number(item) : item;
    if (i < texts ? typeof value !== 'string' : value !== null && !Number.isInteger(value))
      failedFunction(name, 'found an unresolved or wrong argument', path);
    return value as string | number;
  });
}

function replace(
  text: string,
  part: string,
  replacement: string,
  count: number | null | undefined,
  path: string,
): Outcome {
  const most = count === undefined || count === null || count < 0 ? Number.POSITIVE_INFINITY : count;
  const pieces = part === '' ? null : text.split(part);
  const found = pieces === null ? text.length + 1 : pieces.length - 1;
  const times = Math.min(found, most);
  if (text.length + times * replacement.length > TEXT_MAX) bounded(' '.repeat(TEXT_MAX + 1), path);
  if (pieces === null) {
    const head = [...text]
      .slice(0, Math.max(0, times))
      .map((c) => replacement + c)
      .join('');
    return { value: head + text.slice(times) + (times > text.length ? replacement : '') };
  }
  if (times >= found) return bounded(pieces.join(replacement), path);
  return { value: pieces.slice(0, times + 1).join(replacement) + part + pieces.slice(times + 1).join(part) };
}

function split(text: string, separator: string, index: number | null | undefined, path: string): Outcome {
  if (separator === '') fail('function_argument', 'string_split: the separator is empty', { path });
  const pieces = text.split(separator);
  if (index === undefined || index === null) return { value: pieces };
  const piece = pieces.at(index);
  if (piece === undefined)
    fail('function_index', `string_split: there is no part ${index} in ${pieces.length} parts`, {
      path,
      value: index,
    });
  return { value: piece! };
}

export const valueHandlers: Partial<Record<FunctionName, Handler>> = {
  concat: (args, _frame, path) => concat(args, path),
  merge: (args, _frame, path) => merge(args, path),
  string_find: (args, _frame, path) => {
    const [text, part] = known('string_find', args, 2, path) as [string, string];
    return { value: text.indexOf(part) };
  },
  string_replace: (args, _frame, path) => {
    const [text, part, replacement, count] = known('string_replace', args, 3, path) as [
      string,
      string,
      string,
      (number | null)?,
    ];
    return replace(text, part, replacement, count, path);
  },
  string_split: (args, _frame, path) => {
    const [text, separator, index] = known('string_split', args, 2, path) as [
      string,
      string,
      (number | null)?,
    ];
    return split(text, separator, index, path);
  },
  string_lower: (args, _frame, path) => ({
    value: String(known('string_lower', args, 1, path)[0]).toLowerCase(),
  }),
  string_upper: (args, _frame, path) => ({
    value: String(known('string_upper', args, 1, path)[0]).toUpperCase(),
  }),
};

import type { Json, JsonObject } from '@baton/kernel';
import { diagnostic } from '../diagnostics/diagnostic';
import { DslError, fail } from '../diagnostics/dsl-error';
import { setOwn } from '../yaml/node';
import { failedFunction, type Handler, hasUnresolved, type Outcome } from './evaluator';
import { pythonText } from './python-text';
import { type FunctionName, isFunction } from './registry';

/** Functions of their arguments alone: concat, merge and the string functions (reference 4). */

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
  if (!Array.isArray(args))
    return isFunction(args) ? 'deferred' : fail('function_argument', 'concat takes a list', { path });
  if (args.some((a) => isFunction(a))) return 'deferred';
  let length = 0;
  const texts = args.map((a) => {
    const text = pythonText(a);
    length += text.length;
    if (length > TEXT_MAX) bounded(' '.repeat(TEXT_MAX + 1), path);
    return text;
  });
  return bounded(texts.join(''), path);
}

function merge(args: Json): Outcome {
  const items = args as Json[];
  if (items.some((a) => isFunction(a))) return 'deferred';
  const result: JsonObject = {};
  for (const item of items)
    for (const key of Object.keys(item as JsonObject)) setOwn(result, key, (item as JsonObject)[key]!);
  return { value: result };
}

/** Arguments of a string function, all known and of the right type. */
function known(name: FunctionName, args: Json, path: string): (string | number)[] {
  const list = Array.isArray(args) ? args : [args];
  if (list.some((a) => hasUnresolved(a) || (typeof a !== 'string' && typeof a !== 'number'))) {
    failedFunction(name, 'found an unresolved or wrong argument', path);
  }
  return list as (string | number)[];
}

function replace(
  text: string,
  part: string,
  replacement: string,
  count: number | undefined,
  path: string,
): Outcome {
  const most = count === undefined || count < 0 ? Number.POSITIVE_INFINITY : count;
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

function split(text: string, separator: string, index: number | undefined, path: string): Outcome {
  if (separator === '') failedFunction('string_split', 'empty separator', path);
  const pieces = text.split(separator);
  if (index === undefined) return { value: pieces };
  const piece = Number.isInteger(index) ? pieces.at(index) : undefined;
  if (piece === undefined || index < -pieces.length)
    fail('function_index', `string_split: there is no part ${index} in ${pieces.length} parts`, {
      path,
      value: index,
    });
  return { value: piece! };
}

export const valueHandlers: Partial<Record<FunctionName, Handler>> = {
  concat: (args, _frame, path) => concat(args, path),
  merge: (args) => merge(args),
  string_find: (args, _frame, path) => {
    const [text, part] = known('string_find', args, path) as [string, string];
    return { value: text.indexOf(part) };
  },
  string_replace: (args, _frame, path) => {
    const [text, part, replacement, count] = known('string_replace', args, path) as [
      string,
      string,
      string,
      number?,
    ];
    return replace(text, part, replacement, count, path);
  },
  string_split: (args, _frame, path) => {
    const [text, separator, index] = known('string_split', args, path) as [string, string, number?];
    return split(text, separator, index, path);
  },
  string_lower: (args, _frame, path) => ({
    value: String(known('string_lower', args, path)[0]).toLowerCase(),
  }),
  string_upper: (args, _frame, path) => ({
    value: String(known('string_upper', args, path)[0]).toUpperCase(),
  }),
};

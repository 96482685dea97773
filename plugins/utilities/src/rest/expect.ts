import { FatalError, RetryableError } from '@baton/plugin-sdk';
import { RE2JS } from 're2js';
import { isDict, type Json, pythonText } from '../json';

/** Longest text that is matched, and that an error shows. */
const MAX_MATCHED = 64 * 1024;
const MAX_SHOWN = 200;

/**
 * Looks at an answer: `[path ..., pattern]`, or a list of those. The pattern must match the beginning of the value, as Python
 * writes it.
 * @throws FatalError when a value matches a rule of `nonrecoverable_response`, or a rule is wrong
 * @throws RetryableError when a value does not match a rule of `response_expectation`, or is not there
 */
export function checkAnswer(
  answer: Json,
  {
    nonrecoverable_response: refused,
    response_expectation: expected,
  }: { nonrecoverable_response?: Json; response_expectation?: Json },
): void {
  for (const { path, pattern, text } of rulesOf(answer, refused, 'nonrecoverable_response'))
    if (startsLike(pattern, text))
      throw new FatalError(
        `Giving up: ${path} is ${shown(text)}, which matches ${pattern} of nonrecoverable_response`,
      );
  for (const { path, pattern, text } of rulesOf(answer, expected, 'response_expectation'))
    if (!startsLike(pattern, text))
      throw new RetryableError(
        `Trying one more time: ${path} is ${shown(text)}, which does not match ${pattern} of response_expectation`,
      );
}

interface Rule {
  path: string;
  pattern: string;
  /** The value at the path. */
  text: string;
}

function* rulesOf(answer: Json, rules: Json | undefined, name: string): Generator<Rule> {
  if (rules === undefined || rules === null || (Array.isArray(rules) && rules.length === 0)) return;
  if (!Array.isArray(rules)) throw new FatalError(`${name}: expected a list, for instance [[status, done]]`);
  if (Array.isArray(rules[0])) {
    for (const rule of rules) yield* rulesOf(answer, rule, name);
    return;
  }
  const path = rules.slice(0, -1);
  yield {
    path: path.map(String).join('.') || 'the answer',
    pattern: pythonText(rules.at(-1)!),
    text: pythonText(valueAt(answer, path)),
  };
}

function valueAt(answer: Json, path: readonly Json[]): Json {
  let at: Json | undefined = answer;
  for (const key of path) {
    if (Array.isArray(at)) at = at.at(Number(key));
    else at = isDict(at) && Object.hasOwn(at, String(key)) ? at[String(key)] : undefined;
    if (at === undefined)
      throw new RetryableError(
        `No key or index "${String(key)}" in the answer (${path.map(String).join('.')})`,
      );
  }
  return at;
}

/**
 * Python's re.match. The answer comes from a server that may be hostile, so the time of a match must grow with its length alone:
 * RE2 knows neither backward references nor looks around.
 */
function startsLike(pattern: string, text: string): boolean {
  try {
    return RE2JS.compile(pattern.replaceAll('\\Z', '\\z')).matcher(text.slice(0, MAX_MATCHED)).lookingAt();
  } catch (cause) {
    throw new FatalError(`the pattern ${shown(pattern)} cannot be used: ${(cause as Error).message}`, {
      cause,
    });
  }
}

const shown = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text);

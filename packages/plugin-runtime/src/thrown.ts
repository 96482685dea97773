/** Safe access to values that plugins throw and return: getters may throw, messages may be no text, proxies may be revoked. */
import { types } from 'node:util';

/** Returns the value, or undefined when reading it throws. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Whether a value is an error, also one of another realm: code that plugins run in a context of Node. */
const isError = (value: unknown): value is Error =>
  types.isNativeError(value) || attempt(() => value instanceof Error) === true;

/** Returns a text for people of any value: JSON for objects that are no errors. Never throws. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (isError(value)) {
    const { message } = thrownTexts(value);
    if (message !== '') return message;
  } else if (typeof value === 'object' && value !== null) {
    const json = attempt(() => JSON.stringify(value));
    if (json !== undefined) return json;
    return `a value of type ${typeof value} that cannot be written as JSON`;
  }
  return attempt(() => String(value)) ?? `a value of type ${typeof value} without text`;
}

export interface ThrownTexts {
  name: string;
  message: string;
  /** Frames, one per line; empty when there are none. */
  frames: string;
}

/** Returns name, message and frames of any thrown value; each is a text, whatever the value contains. Never throws. */
export function thrownTexts(thrown: unknown): ThrownTexts {
  if (!isError(thrown)) return { name: 'Error', message: textOf(thrown), frames: '' };
  const read = (name: 'name' | 'message' | 'stack'): unknown => attempt(() => thrown[name]);
  const [name, message, stack] = [read('name'), read('message'), read('stack')];
  return {
    name: typeof name === 'string' && name !== '' ? name : 'Error',
    message: message === undefined || message === null || message === thrown ? '' : textOf(message),
    frames: typeof stack === 'string' ? stack.split('\n').slice(1).join('\n') : '',
  };
}

/** A hundred years: longer than any wait, and JSON can represent it. */
const MOST_SECONDS = 100 * 365 * 86_400;

/** Returns a number of seconds to wait; null when the value is none: the policy decides. */
export const secondsOf = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 ? Math.min(value, MOST_SECONDS) : null;

/** Returns a property of a thrown value; undefined when there is none, or reading it throws. */
export const thrownProperty = (thrown: object, name: PropertyKey): unknown =>
  attempt(() => (thrown as Record<PropertyKey, unknown>)[name]);

/** Like `instanceof`, but false for revoked proxies. */
export const isInstance = <T>(thrown: unknown, kind: abstract new (...args: never[]) => T): thrown is T =>
  attempt(() => thrown instanceof kind) === true;

/** What plugins throw and return is theirs: getters that throw, messages that are no text, proxies that are gone. */
import { types } from 'node:util';

/** The value, or undefined where reading it throws. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Also one of another realm, as plugins and programs of Node that are run in a context have. */
const isError = (value: unknown): value is Error =>
  types.isNativeError(value) || attempt(() => value instanceof Error) === true;

/** Text of anything, for people: JSON of objects that are no errors. Never throws. */
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
  /** Frames, a line each; empty where there are none. */
  frames: string;
}

/** Name, message and frames of anything that was thrown, each a text whatever the thrower put there. Never throws. */
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

/** A hundred years: nothing waits longer, and JSON can carry it. */
const MOST_SECONDS = 100 * 365 * 86_400;

/** Seconds to wait, when it is a number of them; null: the policy decides. */
export const secondsOf = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 ? Math.min(value, MOST_SECONDS) : null;

/** A property of something that was thrown; undefined where there is none, or reading it throws. */
export const thrownProperty = (thrown: object, name: PropertyKey): unknown =>
  attempt(() => (thrown as Record<PropertyKey, unknown>)[name]);

/** Whether it is an instance, also of what is no object any more. */
export const isInstance = <T>(thrown: unknown, kind: abstract new (...args: never[]) => T): thrown is T =>
  attempt(() => thrown instanceof kind) === true;

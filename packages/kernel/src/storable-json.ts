/** Matches, in this order: a pair of surrogates, an escape that cannot be stored, any other escape. */
const ESCAPE =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u0000|u[dD][89a-fA-F][\da-fA-F]{2}|[\s\S])/g;
const UNSTORABLE_LENGTH = '\\u0000'.length;

/**
 * Replaces characters that no database can store by U+FFFD in a JSON text: NUL characters and halves of surrogate
 * pairs. Scripts print such characters, and a value that cannot be stored must not keep its execution from ending.
 */
export function storableJson(json: string): string {
  if (!json.includes('\\u')) return json;
  return json.replace(ESCAPE, (one) => (one.length === UNSTORABLE_LENGTH ? '\\ufffd' : one));
}

/** The built-in type files, which imports name without a server (reference/dsl.md 5.7). */

/** Text of a built-in file, or null when `url` names none. */
export function builtinText(_url: string): string | null {
  return null;
}

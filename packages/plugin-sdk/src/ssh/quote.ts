import { FatalError } from '../errors';

/** Quotes a text as one word for a shell of POSIX. @throws FatalError for a NUL, which no word can hold */
export function quote(text: string): string {
  requireNoNul(text);
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Variable of the wrapper that holds a line end. */
export const LINE_END = '_baton_nl';

/** Quotes a text as one word in one line: line ends are taken from a variable. @throws FatalError for a NUL */
export function quoteInLine(text: string): string {
  requireNoNul(text);
  return text
    .split('\n')
    .map((line) => `'${line.replaceAll("'", `'\\''`)}'`)
    .join(`"$${LINE_END}"`);
}

function requireNoNul(text: string): void {
  if (text.includes('\0')) throw new FatalError('ssh: a text for a shell holds a NUL character');
}

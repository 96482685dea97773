import { AppError } from './app-error';

/** The format numbers of one kind of stored document (docs/adr/0027-formats-carry-numbers.md). */
export interface StoredFormat {
  /** Name of the documents, for people: `task graph`. */
  name: string;
  /** The number that is written: the lowest one that any release which may run beside this one still writes. */
  written: number;
  /** Every number that is read. */
  read: readonly number[];
}

/** Defines a kind of stored document. @throws Error when the written number is not among the read ones. */
export function defineFormat(name: string, written: number, read: readonly number[]): StoredFormat {
  if (!read.includes(written)) throw new Error(`format ${written} of a ${name} is written and not read`);
  return { name, written, read };
}

/**
 * Returns the format number of a stored document; a document without a number has number 1. `where` names the document
 * for people.
 * @throws AppError internal_server_error for a number that is not read here: a later release has written the document.
 */
export function requireFormat(format: StoredFormat, found: unknown, where: string): number {
  const number = found ?? 1;
  if (typeof number === 'number' && format.read.includes(number)) return number;
  const known = format.read.join(', ');
  throw new AppError(
    'internal_server_error',
    `${where}: format ${JSON.stringify(number)} of a ${format.name} is unknown here; this release reads ${known}`,
    { where, found: number, expected: format.read },
  );
}

/** Where in an archive something stands, for reports. */
export interface Place {
  /** Name of the entry in the archive. */
  file: string;
  /** Table of a database dump. */
  table?: string;
  /** Line of the entry, from 1. */
  line?: number;
  /** Number of the item in a page of the new layout, from 1. */
  item?: number;
  /** Column of the row, or path in the item. */
  field?: string;
}

/**
 * - `zip`: the archive is no readable zip. `layout`: it is no snapshot of Cloudify, or a part that must be there is missing.
 * - `json`, `copy`, `pickle`: the bytes at the place cannot be read. `key`: the key for encrypted values is missing or wrong.
 * - `limit`: a bound of this package is exceeded.
 */
export type RefusedCode = 'zip' | 'layout' | 'json' | 'copy' | 'pickle' | 'key' | 'limit';

/** Says `pg_data, table nodes, line 7`. */
export function placeText(place: Place): string {
  const parts = [place.file];
  if (place.table !== undefined) parts.push(`table ${place.table}`);
  if (place.line !== undefined) parts.push(`line ${place.line}`);
  if (place.item !== undefined) parts.push(`item ${place.item}`);
  if (place.field !== undefined) parts.push(place.field);
  return parts.join(', ');
}

/** The archive, or a part of it, is not read. The message is for users and never contains a value of the archive. */
export class ArchiveRefused extends Error {
  override readonly name = 'ArchiveRefused';

  constructor(
    readonly code: RefusedCode,
    readonly reason: string,
    readonly place?: Place,
  ) {
    super(place ? `${placeText(place)}: ${reason}` : reason);
  }
}

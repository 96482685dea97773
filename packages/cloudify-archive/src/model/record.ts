import type { Place } from '../archive-refused';
import type { Note, ValueObject } from '../value';
import type { Item, RecordType } from './types';

/**
 * Bytes that belong to a record. `file`: the entry is the content. `base64`: the entry is its base64 text. `folder`: all entries
 * below the name, which ends with a slash.
 */
export interface Blob {
  kind: 'file' | 'base64' | 'folder';
  name: string;
}

export interface RecordOf<T extends RecordType> {
  type: T;
  /** Null for types of the manager. */
  tenant: string | null;
  item: Item<T>;
  /** Fields that the shape does not know. */
  unknown: ValueObject;
  notes: Note[];
  place: Place;
  /** Archive of a blueprint or plugin, working folder of a deployment. */
  blob: Blob | null;
}

/** One object of the old manager. `type` says which item it has. */
export type ArchiveRecord = { [T in RecordType]: RecordOf<T> }[RecordType];

/**
 * Why an object is not among the records.
 * - `replaced`: a later file has it again. `repeated`: the same event is in several files.
 * - `invalid`: a field is missing or wrong. `unreadable`: a value cannot be decoded, or is not allowed to be.
 * - `deleted-in-dump`: the dump itself deletes it. `not-carried`: a kind of object that Baton does not take over.
 * - `unknown-type`: a type that no release of Cloudify 5.0.5 to 7.1 writes. `dangling`: what it belongs to is not in the archive.
 * - `foreign-tenant`: it belongs to a tenant that is not in the archive.
 */
export type SkipReason =
  | 'replaced'
  | 'repeated'
  | 'invalid'
  | 'unreadable'
  | 'deleted-in-dump'
  | 'not-carried'
  | 'unknown-type'
  | 'dangling'
  | 'foreign-tenant';

export interface Skipped {
  /** A record type, or the name of a table or type that is none. */
  type: string;
  tenant: string | null;
  reason: SkipReason;
  /** Never contains a value of the archive. */
  message: string;
  place: Place;
}

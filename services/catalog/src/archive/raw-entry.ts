import type { Readable } from 'node:stream';
import type { EntryKind } from '../domain/entry-rules';

/** An entry before any rule is applied. */
export interface RawEntry {
  name: string;
  kind: EntryKind;
  /** Permission bits; 0 when unknown. */
  mode: number;
  /** Milliseconds since 1970; null when the archive does not give the time in UTC. */
  modifiedMs: number | null;
  /** Unpacked size as the archive announces it; it may be false. */
  announcedBytes: number;
  /** Target of a link; null for zip, where the target is the content of the entry. */
  link: string | null;
  content: (() => Promise<Readable>) | null;
}

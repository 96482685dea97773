import type { Readable } from 'node:stream';
import type { EntryKind } from '../domain/entry-rules';

/** An entry before any rule was applied. */
export interface RawEntry {
  name: string;
  kind: EntryKind;
  /** Permission bits; 0 when unknown. */
  mode: number;
  /** Milliseconds since 1970; null when the archive does not say it in UTC. */
  modifiedMs: number | null;
  /** Unpacked size as the archive announces it; it may lie. */
  announcedBytes: number;
  /** Target of a link; null for zip, where the content says it. */
  link: string | null;
  content: (() => Promise<Readable>) | null;
}

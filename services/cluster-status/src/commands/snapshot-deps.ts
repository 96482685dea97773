import type { BlobStore } from '@baton/blob-store';
import type { Clock, Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { SnapshotParts } from '../adapters/snapshot-parts';
import type { SealPort } from '../adapters/snapshot-seal';
import type { SystemExecutionsPort } from '../adapters/system-executions';
import type { DB } from '../store/tables.gen';

export interface SnapshotDeps {
  db: Db<DB>;
  blobs: BlobStore;
  parts: SnapshotParts;
  seals: SealPort;
  executions: SystemExecutionsPort;
  clock: Clock;
  log: Log;
  instanceId: string;
  /** Looks for work at once; the loop comes anyway. */
  kick(): void;
  /** Largest archive that is taken. */
  maxBytes: number;
}

/** How a running job speaks: lines of its execution's log. */
export interface JobVoice {
  say(line: string): Promise<void>;
  /** Aborted when the job is cancelled, lost to another process, or this process stops. */
  signal: AbortSignal;
}

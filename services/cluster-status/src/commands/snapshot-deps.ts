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
  /** Starts a check for work at once; the loop checks anyway. */
  kick(): void;
  /** Size of the largest archive that is accepted. */
  maxBytes: number;
}

/** Connection of a running job to its execution: log lines out, cancellation in. */
export interface JobVoice {
  say(line: string): Promise<void>;
  /** Aborted when the job is cancelled, lost to another process, or this process stops. */
  signal: AbortSignal;
}

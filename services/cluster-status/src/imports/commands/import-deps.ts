import type { BlobStore } from '@baton/blob-store';
import type { FindUser } from '@baton/contracts';
import type { Clock, Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { SnapshotParts } from '../../adapters/snapshot-parts';
import type { DB } from '../../store/tables.gen';
import type { TextSealPort } from '../../webhooks/adapters/sealed-content';
import type { ImportParts } from '../adapters/import-parts';

export interface ImportDeps {
  db: Db<DB>;
  blobs: BlobStore;
  imports: ImportParts;
  /** Of them only the note of blobs that are stored next. */
  parts: Pick<SnapshotParts, 'catalog' | 'deployments'>;
  seals: TextSealPort;
  findUser: FindUser;
  clock: Clock;
  log: Log;
  instanceId: string;
  /** Starts a check for work at once; the loop checks anyway. */
  kick(): void;
  /** Size of the largest archive that is accepted. */
  maxBytes: number;
}

/** Connection of running work to its row: what is being done, and the end of the lease. */
export interface ImportVoice {
  /** Shows what is being done. */
  say(step: string): Promise<void>;
  /** Aborted when the import is deleted, lost to another process, or this process stops. */
  signal: AbortSignal;
}

import type { ClientBase } from 'pg';

/** Connection inside the transaction that a step of a service joins. */
export type SnapshotClient = ClientBase;

/** What a switch is about, for the service's own steps in it. */
export interface SwitchContext {
  /** Of restore_snapshot, which goes on. */
  executionId: string;
  /** Of create_snapshot, which was running when its row was read. */
  createdByExecution: string;
}

/**
 * How a service's tables take part in snapshots. Every table is exported unless it stands in `kept` or `cleared`; a test
 * holds both against the migrations (snapshotTablesFault).
 */
export interface SnapshotTables {
  /** Not exported and not touched by a restore: {table: why}. */
  kept: Readonly<Record<string, string>>;
  /** Not exported, emptied by a restore: {table: why}. */
  cleared: Readonly<Record<string, string>>;
  /** Tables that are empty on a manager that nobody has used yet. */
  contents: readonly string[];
  /** SQL condition on the rows of an exported table; null: all of them. */
  condition?(table: string, wanted: { includeEvents: boolean; includeLogs: boolean }): string | null;
  /** Statements that answer digests of blobs (one column). */
  blobs?: readonly string[];
  /** Rows that outlive the switch: {table: condition with the restoring execution as $1}; sequences number them anew. */
  surviving?: Readonly<Record<string, string>>;
  /** In the transaction of the switch, before the old rows go. */
  beforeSwitch?(client: SnapshotClient, context: SwitchContext): Promise<void>;
  /** In the transaction of the switch, after the new rows and their hashes. */
  afterLoad?(client: SnapshotClient, context: SwitchContext): Promise<void>;
  /** After the rehearsal's load: what would happen beside the replacement, in words. */
  notes?(client: SnapshotClient): Promise<string[]>;
  /** Marks blobs that are about to be stored. */
  noteBlobs?(client: SnapshotClient, digests: readonly string[]): Promise<void>;
}

/** Tables that every service has and that no snapshot holds. */
export const commonlyKept = {
  inbox: 'numbers of messages that were consumed: they are never sent again',
  schema_migrations: 'belongs to the schema, not to the state',
  snapshot_staging: 'rows on their way in',
  snapshot_switches: 'restores that took effect',
} as const;
export const commonlyCleared = { outbox: 'messages about the state that is replaced' } as const;

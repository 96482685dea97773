import type { ClientBase } from 'pg';

/** Connection inside the transaction in which a step of a service runs. */
export type SnapshotClient = ClientBase;

/** The executions of a switch, for the service's own steps in it. */
export interface SwitchContext {
  /** Execution of restore_snapshot, which goes on after the switch. */
  executionId: string;
  /** Execution of create_snapshot, which was running when its row was exported. */
  createdByExecution: string;
}

/**
 * How a service's tables take part in snapshots. Every table is exported unless it is in `kept` or `cleared`; a test checks both
 * against the migrations (snapshotTablesFault).
 */
export interface SnapshotTables {
  /** Tables that are not exported and not touched by a restore: {table: reason}. */
  kept: Readonly<Record<string, string>>;
  /** Tables that are not exported, and emptied by a restore: {table: reason}. */
  cleared: Readonly<Record<string, string>>;
  /** Tables that are empty on a manager that was not used yet. */
  contents: readonly string[];
  /** SQL condition on rows of such a table that a manager may have by itself, before somebody uses it. */
  ownContents?: Readonly<Record<string, string>>;
  /** SQL condition on the rows to export of a table; null: all rows. */
  condition?(table: string, wanted: { includeEvents: boolean; includeLogs: boolean }): string | null;
  /** Statements that return digests of blobs (one column). */
  blobs?: readonly string[];
  /** Rows that survive the switch: {table: condition with the restoring execution as $1}; sequences give them new numbers. */
  surviving?: Readonly<Record<string, string>>;
  /** Runs in the transaction of the switch, before the old rows are deleted. */
  beforeSwitch?(client: SnapshotClient, context: SwitchContext): Promise<void>;
  /** Runs in the transaction of the switch, after the new rows are loaded and their hashes checked. */
  afterLoad?(client: SnapshotClient, context: SwitchContext): Promise<void>;
  /** Runs after the load of a rehearsal; returns further effects of a switch, besides the replaced rows, in words. */
  notes?(client: SnapshotClient): Promise<string[]>;
  /** Marks blobs that will be stored next. */
  noteBlobs?(client: SnapshotClient, digests: readonly string[]): Promise<void>;
}

/** Tables that every service has and no snapshot contains. */
export const commonlyKept = {
  inbox: 'numbers of messages that were consumed: they are never sent again',
  schema_migrations: 'belongs to the schema, not to the state',
  snapshot_staging: 'rows on their way in',
  snapshot_switches: 'restores that took effect',
} as const;
/** Tables of a service with a part in imports (packages/import-part). */
export const importsKept = {
  import_staging: 'records on their way in',
  import_fates: 'reports of imports into this manager',
  import_marks: 'imports that took effect',
} as const;
export const commonlyCleared = { outbox: 'messages about the state that is replaced' } as const;

import type { ImportOptions } from '@baton/contracts';
import type { JsonObject } from '@baton/kernel';
import type { Pool, PoolClient } from 'pg';

/** The connection of an import, inside its transaction. */
export type ImportClient = PoolClient;
export type ImportPool = Pool;

/** A record on its way in: its content in the record model, and where the archive has it (for the report). */
export interface StagedRecord {
  item: JsonObject;
  place: string;
  /**
   * The line `{"item":...,"place":...}` as it came, without characters that no database stores. Columns of type json that are taken
   * from it keep whole numbers beyond 2^53, which `item` has lost.
   */
  line: string;
}

export type FateKind = 'imported' | 'same' | 'skipped' | 'replaced' | 'lost' | 'conflict';

/** What became of a record. */
export interface Fate {
  /** Id or name by which people know the object. */
  id: string;
  fate: FateKind;
  /** Reason code, for every fate but a plain `imported` and `same`. */
  code?: string;
  text?: string;
  /** Content of the object that was here before, when there was one; any text that changes with the content. */
  met?: string;
}

export interface ImportContext {
  /** Inside the transaction of the import; a rehearsal rolls it back. */
  client: PoolClient;
  /** Of this run. */
  importId: string;
  /** Id of the import as people know it. */
  jobId: string;
  /** Tenant here; empty for types of the whole manager. */
  tenant: string;
  options: ImportOptions;
  /** `cloudify 7.1`, `baton 0.2.0`. */
  source: string;
  isRehearsal: boolean;
  /** What importers of this service tell each other in this run; see `sharedMap`. */
  shared: Map<string, unknown>;
  /** Adds an effect in words to the outcome. */
  note(text: string): void;
}

/** Takes over the records of one type. */
export interface Importer {
  type: string;
  /**
   * Takes over a batch; returns one fate for each record, in order. It is asked batch by batch in the order of the archive, in one
   * transaction. A fault of a record is a fate (`lost`), not an error.
   */
  take(context: ImportContext, records: readonly StagedRecord[]): Promise<Fate[]>;
}

/** A service's part of imports. */
export interface ImportTables {
  /** In the order in which they must be taken. */
  importers: readonly Importer[];
  /** Runs behind all importers, once for each tenant that had records: statuses, counters, labels. */
  finish?(context: ImportContext): Promise<void>;
  /** The import was discarded: what is kept for it beside the staged records may go. */
  discarded?(pool: Pool, importId: string): Promise<void>;
  activate?(
    client: PoolClient,
    wanted: { tenant: string; deploymentIds: readonly string[]; withSchedules: boolean },
  ): Promise<{ deployments: number; schedules: number }>;
  /** Records of a tenant or a deployment, by type, for a bundle. An item that is a text is JSON, and keeps every digit. */
  exported?(
    client: PoolClient,
    wanted: ExportWanted,
  ): AsyncIterable<{ type: string; items: (JsonObject | string)[]; blobs?: string[] }>;
}

export interface ExportWanted {
  tenant: string;
  /** Empty: the whole tenant. */
  deploymentId: string;
  closure: JsonObject;
  includeEvents: boolean;
  /** Empty: values of secrets are left out. */
  bundleKey: string;
}

import { snapshotsRpc } from '@baton/contracts';
import { AppError, type Log } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';
import type { Pool, PoolClient } from 'pg';
import { describeTables, exportTables } from './export-tables';
import type { Loading } from './load-tables';
import { rehearse } from './rehearse';
import { inSession } from './session';
import type { SnapshotTables } from './snapshot-tables';
import { switchOver } from './switch';

export interface SnapshotPartDeps {
  db: { pool: Pool };
  /** PostgreSQL schema of the service. */
  schema: string;
  tables: SnapshotTables;
  log: Log;
}

const definition = snapshotsRpc.SnapshotPartServiceDefinition;

/** Serves the service's part of snapshots: `rpc: [rpcPart(part.definition, part.handlers)]`. */
export function createSnapshotPart({ db, schema, tables, log }: SnapshotPartDeps): {
  definition: typeof definition;
  handlers: RpcHandlers<typeof definition>;
} {
  const { pool } = db;
  const exported = { pool, schema, tables, log };
  const loading = (client: PoolClient, restoreId: string): Loading => ({ client, schema, tables, restoreId });
  return {
    definition,
    handlers: {
      export: (request) => exportTables(exported, request),
      describe: () => describeTables(exported),
      stage: async ({ restoreId, table, batch, rows }) => {
        await pool.query(
          `insert into snapshot_staging (restore_id, table_name, batch, rows) values ($1, $2, $3, $4) on conflict do nothing`,
          [restoreId, table, batch, Buffer.from(rows).toString('utf8')],
        );
        return {};
      },
      noteBlobs: async ({ digests }) => {
        if (!tables.noteBlobs) throw new AppError('snapshot_action_error', `${schema} keeps no files`);
        await inSession(pool, 'begin', 'commit', (client) => tables.noteBlobs!(client, digests));
        return {};
      },
      rehearse: (request) =>
        inSession(pool, 'begin', 'rollback', (client) =>
          rehearse(loading(client, request.restoreId), request),
        ).catch(explained(schema)),
      switch: async (request) => {
        await inSession(pool, 'begin', 'commit', (client) =>
          switchOver(loading(client, request.restoreId), request),
        );
        log.info({ restoreId: request.restoreId, schema }, 'switched to the restored state');
        return {};
      },
      discard: async ({ restoreId }) => {
        await pool.query('delete from snapshot_staging where restore_id = $1', [restoreId]);
        return {};
      },
    },
  };
}

/** Wraps refusals of the database (a violated key, reference or check): they are faults of the archive, not ours. */
const explained =
  (schema: string) =>
  (error: unknown): never => {
    const code = (error as { code?: unknown }).code;
    if (!(error instanceof AppError) && typeof code === 'string' && /^2[23]/.test(code))
      throw new AppError(
        'snapshot_action_error',
        `The rows of ${schema} do not fit its tables: ${(error as Error).message}`,
        {},
        { cause: error },
      );
    throw error;
  };

import type { snapshotsRpc } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { PoolClient } from 'pg';
import { exportedOf } from './export-tables';
import { readRows } from './read-rows';
import { RowHash } from './row-hash';
import { inLoadOrder, quote, readMigrations, readShapes, type TableShape } from './schema';
import type { SnapshotTables } from './snapshot-tables';

type StagedTable = snapshotsRpc.StagedTable;

export interface Loading {
  client: PoolClient;
  schema: string;
  tables: SnapshotTables;
  restoreId: string;
}

/** One table to load, checked against the present schema: {shape of the table here, staged table}. */
export interface Planned {
  shape: TableShape;
  staged: StagedTable;
}

const refused = (message: string): AppError => new AppError('snapshot_action_error', message);

/**
 * Returns the staged tables in load order. An older schema is accepted (absent columns get their defaults), a newer one is refused.
 * @throws AppError snapshot_action_error
 */
export async function planLoad(loading: Loading, request: snapshotsRpc.RestoreRequest): Promise<Planned[]> {
  const { client, schema, tables } = loading;
  const migrations = await readMigrations(client, schema);
  if (!migrations.includes(request.schemaVersion)) {
    throw refused(
      `The snapshot holds ${schema} at migration ${request.schemaVersion}, which this manager does not know: it is newer than the manager, whose last one is ${migrations.at(-1)}`,
    );
  }
  const shapes = exportedOf(await readShapes(client, schema), tables);
  const planned = request.tables.map((staged) => {
    const shape = shapes.find(({ name }) => name === staged.name);
    if (!shape)
      throw refused(`The snapshot holds a table ${schema}.${staged.name} that is no part of snapshots here`);
    const unknown = staged.columns.filter((column) => !shape.columns.includes(column));
    if (unknown.length > 0)
      throw refused(
        `The snapshot holds columns of ${schema}.${staged.name} that are unknown here: ${unknown.join(', ')}`,
      );
    return { shape, staged };
  });
  const order = inLoadOrder(shapes).map(({ name }) => name);
  return planned.sort((a, b) => order.indexOf(a.shape.name) - order.indexOf(b.shape.name));
}

/** Fills the tables that the search path finds (temporary ones first) with the staged rows, batch by batch. */
export async function loadStaged(loading: Loading, planned: readonly Planned[]): Promise<void> {
  const { client, schema, restoreId } = loading;
  for (const { staged } of planned) {
    const columns = staged.columns.map(quote).join(', ');
    const { rows } = await client.query(
      `select batch from ${quote(schema)}.snapshot_staging where restore_id = $1 and table_name = $2 order by batch`,
      [restoreId, staged.name],
    );
    for (const { batch } of rows)
      await client.query(
        `insert into ${quote(staged.name)} (${columns}) overriding system value
         select ${columns
           .split(', ')
           .map((column) => `r.${column}`)
           .join(', ')}
         from ${quote(schema)}.snapshot_staging s, json_populate_recordset(null::${quote(staged.name)},
           ('[' || replace(s.rows, E'\\n', ',') || ']')::json) r
         where s.restore_id = $1 and s.table_name = $2 and s.batch = $3`,
        [restoreId, staged.name, batch],
      );
  }
}

/**
 * Reads the loaded rows back and compares their number and hash.
 * @throws AppError snapshot_action_error: the loaded rows are not those of the snapshot.
 */
export async function verifyLoaded({ client, schema }: Loading, planned: readonly Planned[]): Promise<void> {
  for (const { staged } of planned) {
    const hash = new RowHash();
    for await (const lines of readRows(client, staged)) for (const line of lines) hash.add(line);
    if (hash.rows !== staged.rows || hash.digest() !== staged.hash)
      throw refused(
        `The rows of ${schema}.${staged.name} are not those of the snapshot: ${hash.rows} of ${staged.rows} rows, hash ${hash.digest()} instead of ${staged.hash}`,
      );
  }
}

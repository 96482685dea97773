import type { snapshotsRpc } from '@baton/contracts';
import type { PoolClient } from 'pg';
import { exportedOf } from './export-tables';
import { type Loading, loadStaged, planLoad, verifyLoaded } from './load-tables';
import { quote, readShapes, type TableShape } from './schema';

/**
 * Replaces the service's rows by the staged ones; the caller commits. Runs once per restore: a repeated call finds the mark of the
 * first. Before the commit no effect is visible; after it nothing of the old state is left.
 */
export async function switchOver(loading: Loading, request: snapshotsRpc.RestoreRequest): Promise<void> {
  const { client, schema, tables, restoreId } = loading;
  const mark = await client.query(
    'insert into snapshot_switches (restore_id) values ($1) on conflict do nothing',
    [restoreId],
  );
  if (mark.rowCount === 0) return;
  const context = { executionId: request.executionId, createdByExecution: request.createdByExecution };
  const shapes = await readShapes(client, schema);
  const planned = await planLoad(loading, request);
  const replaced = [...exportedOf(shapes, tables), ...shapes.filter(({ name }) => name in tables.cleared)];
  // All tables are locked at once, in one order: writers under way end first, later ones see the new state.
  await client.query(
    `lock table ${replaced.map(({ name }) => quote(name)).join(', ')} in access exclusive mode`,
  );
  await tables.beforeSwitch?.(client, context);
  const survivors = await setAside(client, shapes, tables.surviving ?? {}, request.executionId);
  await client.query(`truncate ${replaced.map(({ name }) => quote(name)).join(', ')}`);
  // Tenants of the snapshot may have been removed since.
  await client.query('delete from baton.closed_tenants where schema_name = $1', [schema]);
  await loadStaged(loading, planned);
  await verifyLoaded(loading, planned);
  await continueSequences(client, schema, replaced);
  for (const put of survivors) await client.query(put);
  await tables.afterLoad?.(client, context);
}

/** Copies the rows that survive the switch; returns the statements that insert them again. */
async function setAside(
  client: PoolClient,
  shapes: readonly TableShape[],
  surviving: Readonly<Record<string, string>>,
  executionId: string,
): Promise<string[]> {
  const puts: string[] = [];
  for (const [table, condition] of Object.entries(surviving)) {
    const shape = shapes.find(({ name }) => name === table)!;
    const columns = shape.columns
      .filter((column) => !shape.sequences.includes(column))
      .map(quote)
      .join(', ');
    const aside = quote(`surviving_${table}`);
    await client.query(`create temporary table ${aside} (like ${quote(table)}) on commit drop`);
    await client.query(
      `alter table ${aside} ${shape.columns.map((c) => `alter column ${quote(c)} drop not null`).join(', ')}`,
    );
    await client.query(
      `insert into ${aside} (${columns}) select ${columns} from ${quote(table)} where ${condition}`,
      [executionId],
    );
    puts.push(
      `insert into ${quote(table)} (${columns}) select ${columns} from ${aside} on conflict do nothing`,
    );
  }
  return puts;
}

/** Sets the sequences behind the highest loaded value. */
async function continueSequences(
  client: PoolClient,
  schema: string,
  shapes: readonly TableShape[],
): Promise<void> {
  for (const { name, sequences } of shapes)
    for (const column of sequences)
      await client.query(
        `select setval(pg_get_serial_sequence($1, $2), coalesce(max(${quote(column)}), 0) + 1, false) from ${quote(name)}`,
        [`${quote(schema)}.${quote(name)}`, column],
      );
}

import type { snapshotsRpc } from '@baton/contracts';
import { type Loading, loadStaged, type Planned, planLoad, verifyLoaded } from './load-tables';
import { quote } from './schema';

/**
 * Loads all staged rows into temporary copies of the tables, with their checks, unique keys and references, compares the hashes and
 * returns the effects of a switch. The real tables are neither changed nor locked against writers, so this runs beside executions.
 * The caller rolls back.
 */
export async function rehearse(
  loading: Loading,
  request: snapshotsRpc.RestoreRequest,
): Promise<snapshotsRpc.RehearseResponse> {
  const { client, schema, tables } = loading;
  const planned = await planLoad(loading, request);
  const replaced = await countRows(loading, planned);
  const references = await readReferences(loading, planned);
  for (const { shape } of planned)
    await client.query(
      `create temporary table ${quote(shape.name)} (like ${quote(schema)}.${quote(shape.name)} including all) on commit drop`,
    );
  await loadStaged(loading, planned);
  for (const { table, definition } of references)
    await client.query(`alter table pg_temp.${quote(table)} add ${definition}`);
  await verifyLoaded(loading, planned);
  return { notes: (await tables.notes?.(client)) ?? [], replaced };
}

async function countRows({ client }: Loading, planned: readonly Planned[]) {
  const counts: { table: string; rows: number }[] = [];
  for (const { shape } of planned) {
    const { rows } = await client.query(`select count(*)::float8 as count from ${quote(shape.name)}`);
    counts.push({ table: shape.name, rows: rows[0].count });
  }
  return counts;
}

/** Reads the definitions of foreign keys, before the temporary copies hide the tables that they name. */
async function readReferences({ client, schema }: Loading, planned: readonly Planned[]) {
  const { rows } = await client.query(
    `select c.relname as table, pg_get_constraintdef(f.oid) as definition
     from pg_constraint f join pg_class c on c.oid = f.conrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and f.contype = 'f' and f.conparentid = 0 and c.relname = any($2)`,
    [schema, planned.map(({ shape }) => shape.name)],
  );
  return rows as { table: string; definition: string }[];
}

import type { snapshotsRpc } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import type { Pool, PoolClient } from 'pg';
import { readRows } from './read-rows';
import { quote, readMigrations, readShapes, type TableShape } from './schema';
import type { SnapshotTables } from './snapshot-tables';

export interface ExportDeps {
  pool: Pool;
  schema: string;
  tables: SnapshotTables;
  log: Log;
}

type Piece = snapshotsRpc.ExportPiece;

const BLOBS_A_PIECE = 500;
const BEGIN = 'begin isolation level repeatable read read only';
const nothing = { header: undefined, table: '', rows: Buffer.alloc(0), blobs: [] };

/** Identifies the database: the same on all of its connections, and different on every other database. */
export const DATABASE_ID = `select system_identifier || '/' || (select oid from pg_database
  where datname = current_database()) as id from pg_control_system()`;

/** Returns the tables that a snapshot contains. */
export function exportedOf(shapes: readonly TableShape[], tables: SnapshotTables): TableShape[] {
  return shapes.filter(({ name }) => !(name in tables.kept) && !(name in tables.cleared));
}

/**
 * Fixes the instant of the export, yields the header, then all rows and blobs. The transaction only reads: no row is locked and no
 * writer waits. It ends with the iteration, also when the caller stops early.
 */
export async function* exportTables(
  deps: ExportDeps,
  request: snapshotsRpc.ExportRequest,
): AsyncGenerator<Piece, void, void> {
  const client = await deps.pool.connect();
  let isLost = true;
  try {
    const isShared = await begin(client, deps, request);
    const shapes = exportedOf(await readShapes(client, deps.schema), deps.tables);
    const schemaVersion = (await readMigrations(client, deps.schema)).at(-1) ?? '';
    yield { ...nothing, header: { schemaVersion, isShared, tables: shapes } };
    for (const shape of shapes) yield* exportTable(client, deps, shape, request);
    yield* exportBlobs(client, deps.tables.blobs ?? []);
    await client.query('rollback');
    isLost = false;
  } finally {
    // The caller stopped in the middle of a cursor: closing the connection is the surest end of the transaction.
    client.release(isLost);
  }
}

async function begin(
  client: PoolClient,
  deps: ExportDeps,
  request: snapshotsRpc.ExportRequest,
): Promise<boolean> {
  const { rows } = await client.query(DATABASE_ID);
  const mayShare = request.postgresSnapshot !== '' && rows[0].id === request.databaseId;
  await client.query(BEGIN);
  if (mayShare) await client.query(`set transaction snapshot '${checkedSnapshot(request.postgresSnapshot)}'`);
  await client.query('set local idle_in_transaction_session_timeout = 0');
  // Without a shared snapshot, the instant is that of the first query.
  await client.query('select 1');
  if (!mayShare) deps.log.debug({ schema: deps.schema }, 'exported at an instant of its own');
  return mayShare;
}

function checkedSnapshot(name: string): string {
  if (!/^[0-9A-F-]{1,64}$/i.test(name)) throw new Error('not the name of a snapshot of PostgreSQL');
  return name;
}

async function* exportTable(
  client: PoolClient,
  { tables }: ExportDeps,
  shape: TableShape,
  { includeEvents, includeLogs }: snapshotsRpc.ExportRequest,
): AsyncGenerator<Piece, void, void> {
  const condition = tables.condition?.(shape.name, { includeEvents, includeLogs }) ?? null;
  for await (const lines of readRows(client, shape, condition))
    yield { ...nothing, table: shape.name, rows: Buffer.from(`${lines.join('\n')}\n`, 'utf8') };
}

async function* exportBlobs(
  client: PoolClient,
  statements: readonly string[],
): AsyncGenerator<Piece, void, void> {
  for (const statement of statements) {
    await client.query(
      `declare snapshot_blobs no scroll cursor for select digest from (${statement}) b (digest)`,
    );
    for (;;) {
      const { rows } = await client.query(`fetch ${BLOBS_A_PIECE} from snapshot_blobs`);
      if (rows.length > 0) yield { ...nothing, blobs: rows.map(({ digest }) => digest as string) };
      if (rows.length < BLOBS_A_PIECE) break;
    }
    await client.query('close snapshot_blobs');
  }
}

/** Returns the schema version, and the number of rows of each table of `contents`. */
export async function describeTables(deps: ExportDeps): Promise<snapshotsRpc.DescribeResponse> {
  const client = await deps.pool.connect();
  try {
    const contents: { table: string; rows: number }[] = [];
    for (const table of deps.tables.contents) {
      const own = deps.tables.ownContents?.[table] ?? 'false';
      const { rows } = await client.query(
        `select count(*)::float8 as count from ${quote(table)} where not (${own})`,
      );
      contents.push({ table, rows: rows[0].count });
    }
    return { schemaVersion: (await readMigrations(client, deps.schema)).at(-1) ?? '', contents };
  } finally {
    client.release();
  }
}

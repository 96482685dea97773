import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type pg from 'pg';
import { translateError } from './sql-errors';
import { isInTransaction } from './transaction-scope';

/** A statement that the server keeps prepared under `statementName` on each connection. */
export interface NamedQuery extends CompiledQuery {
  statementName?: string;
}

/** Kysely over a pool we own; unlike its own driver it knows prepared statements and refuses reads beside a transaction. */
export function poolDialect(pool: pg.Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => poolDriver(pool),
  };
}

type Connection = DatabaseConnection & { client: pg.PoolClient };
const statement = (text: string) => (connection: DatabaseConnection) =>
  connection.executeQuery(CompiledQuery.raw(text)).then(() => undefined);

function poolDriver(pool: pg.Pool): Driver {
  return {
    init: async () => undefined,
    acquireConnection: () => acquire(pool),
    beginTransaction: statement('begin'),
    commitTransaction: statement('commit'),
    rollbackTransaction: statement('rollback'),
    releaseConnection: async (connection) => (connection as Connection).client.release(),
    destroy: () => pool.end(),
  };
}

async function acquire(pool: pg.Pool): Promise<Connection> {
  // Two connections for one piece of work: with all of the pool in that state everybody waits for ever.
  if (isInTransaction()) throw new Error('a query outside of the open transaction: pass tx to it');
  try {
    const client = await pool.connect();
    return { client, executeQuery: (query) => execute(client, query), streamQuery: noStreams };
  } catch (error) {
    throw translateError(error);
  }
}

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

async function execute<R>(client: pg.PoolClient, query: NamedQuery): Promise<QueryResult<R>> {
  try {
    const result = await client.query({
      name: query.statementName,
      text: query.sql,
      values: query.parameters as unknown[],
    });
    const rows = (result.rows ?? []) as R[];
    return WRITES.has(result.command) ? { rows, numAffectedRows: BigInt(result.rowCount ?? 0) } : { rows };
  } catch (error) {
    throw translateError(error);
  }
}

// biome-ignore lint/correctness/useYield: refuses; long results are read page by page.
async function* noStreams(): AsyncIterableIterator<never> {
  throw new Error('streaming queries are not supported');
}

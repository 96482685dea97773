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
import { runHot } from './hot-query';
import { translateError } from './sql-errors';
import { isInTransaction } from './transaction-scope';

/** A statement with options that Kysely does not know. */
export interface NamedQuery extends CompiledQuery {
  /** The server keeps it prepared under this name on each connection. */
  statementName?: string;
  /** Rows arrive as lists with the types of their columns (`ListedResult`), parsed by these parsers instead of `columnTypes`. */
  listedAs?: pg.CustomTypesConfig;
}

/** Result of a query with `listedAs`. */
export interface ListedResult extends QueryResult<unknown[]> {
  fields: readonly { name: string; dataTypeID: number }[];
  /** Number of returned or changed rows. */
  rowCount: number;
}

/**
 * Kysely over a pool that we own. Unlike Kysely's own driver, it knows prepared statements and refuses queries beside an open
 * transaction.
 */
export function poolDialect(pool: pg.Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => poolDriver(pool),
  };
}

/** Kysely over one connection whose transaction belongs to somebody else: it neither begins, ends nor releases anything. */
export function clientDialect(client: pg.PoolClient): Dialect {
  const connection: Connection = {
    client,
    executeQuery: (query) => execute(client, query),
    streamQuery: noStreams,
  };
  const refuse = () => Promise.reject(new Error('the transaction of this connection belongs to its owner'));
  return {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => ({
      init: async () => undefined,
      acquireConnection: async () => connection,
      beginTransaction: refuse,
      commitTransaction: refuse,
      rollbackTransaction: refuse,
      releaseConnection: async () => undefined,
      destroy: async () => undefined,
    }),
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
  // Such work would hold two connections: when all of the pool is in that state, all callers wait for ever.
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
    if (query.listedAs) return await executeListed(client, query, query.listedAs);
    const { statementName: name, sql: text, parameters } = query;
    if (name !== undefined) return { rows: (await runHot(client, { name, text }, parameters)) as R[] };
    const result = await client.query({ text, values: parameters as unknown[] });
    const rows = (result.rows ?? []) as R[];
    return WRITES.has(result.command) ? { rows, numAffectedRows: BigInt(result.rowCount ?? 0) } : { rows };
  } catch (error) {
    throw translateError(error);
  }
}

async function executeListed<R>(
  client: pg.PoolClient,
  query: NamedQuery,
  types: pg.CustomTypesConfig,
): Promise<QueryResult<R>> {
  const result = await client.query<unknown[]>({
    text: query.sql,
    values: query.parameters as unknown[],
    rowMode: 'array',
    types,
  });
  const listed: ListedResult = {
    rows: result.rows ?? [],
    fields: result.fields,
    rowCount: result.rowCount ?? 0,
  };
  return listed as unknown as QueryResult<R>;
}

// biome-ignore lint/correctness/useYield: refuses; long results are read page by page.
async function* noStreams(): AsyncIterableIterator<never> {
  throw new Error('streaming queries are not supported');
}

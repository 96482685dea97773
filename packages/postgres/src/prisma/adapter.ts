/** The driver adapter of Prisma over the connections of a `Db`: it owns no connections, and begins and ends no transaction. */
import type { AsyncResource } from 'node:async_hooks';
import type {
  SqlDriverAdapter,
  SqlDriverAdapterFactory,
  SqlQuery,
  SqlResultSet,
  Transaction,
} from '@prisma/driver-adapter-utils';
import { CompiledQuery } from 'kysely';
import type { ListedResult, NamedQuery } from '../driver';
import type { AnyQuery, AnyTx } from '../transaction-scope';
import { columnTypeOf, parameter, prismaTypes } from './values';

/** One use of a client: the destination of its statements. */
export interface Use {
  executor: AnyQuery | AnyTx;
  /**
   * The async context of the user. Prisma sends the statements that several users ask for in the same turn from the context of one
   * of them; without this, the pool would take a connection of the wrong tenant.
   */
  context: AsyncResource;
  /** The last error of the database: callers get this error instead of the one that Prisma makes of it. */
  failure?: unknown;
}

const names = { provider: 'postgres', adapterName: '@baton/postgres' } as const;
const READ = /^\s*select\b/i;

/** @param useNow returns the use in whose async context a client asks for a transaction. */
export function adapterFactory(schema: string, useNow: () => Use | undefined): SqlDriverAdapterFactory {
  return { ...names, connect: async () => adapter(schema, useNow) };
}

function adapter(schema: string, useNow: () => Use | undefined): SqlDriverAdapter {
  const outside = async (): Promise<never> => {
    throw new Error('a Prisma client is used through `over` only');
  };
  return {
    ...names,
    queryRaw: outside,
    executeRaw: outside,
    executeScript: outside,
    startTransaction: async (isolationLevel) => {
      const use = useNow();
      if (!use) return outside();
      if (isolationLevel !== undefined) throw new Error('db.tx decides the isolation level');
      return boundTo(use);
    },
    getConnectionInfo: () => ({ schemaName: schema, supportsRelationJoins: true }),
    dispose: async () => undefined,
  };
}

/**
 * The object that Prisma takes for its transaction: it sends the statements of one use. It has no savepoints, so that a nested
 * transaction is refused. Its commit and rollback do nothing: `db.tx` commits and rolls back.
 */
function boundTo(use: Use): Transaction {
  return {
    ...names,
    options: { usePhantomQuery: true },
    commit: async () => undefined,
    rollback: async () => undefined,
    queryRaw: async (query): Promise<SqlResultSet> => {
      const { fields, rows } = await send(use, query);
      return {
        columnNames: fields.map((field) => field.name),
        columnTypes: fields.map((field) => columnTypeOf(field.dataTypeID)),
        rows,
      };
    },
    executeRaw: async (query) => (await send(use, query)).rowCount,
  };
}

async function send(use: Use, { sql, args, argTypes }: SqlQuery): Promise<ListedResult> {
  const { executor } = use;
  const query: NamedQuery = {
    ...CompiledQuery.raw(
      sql,
      args.map((value, i) => parameter(value, argTypes[i])),
    ),
    listedAs: prismaTypes,
  };
  try {
    // One call of Prisma may be several statements.
    if (!executor.isTransaction && !READ.test(sql)) throw new Error('Prisma writes inside db.tx only');
    const sent = use.context.runInAsyncScope(() => executor.executeQuery(query));
    return (await sent) as unknown as ListedResult;
  } catch (error) {
    use.failure = error;
    throw error;
  }
}

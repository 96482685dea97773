import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import type { AnyQuery, AnyTx } from '../transaction-scope';
import { adapterFactory, type Use } from './adapter';

/** The value that a generated client takes as `adapter`. */
export type PrismaAdapter = SqlDriverAdapterFactory;

interface Client {
  // biome-ignore lint/suspicious/noExplicitAny: every generated client has its own type here.
  $transaction(
    run: (client: any) => Promise<any>,
    limits: { maxWait: number; timeout: number },
  ): Promise<any>;
}

/**
 * The tables of a client, without the members that would bypass the transaction: `$transaction`, raw SQL, `$connect` and the like.
 */
export type Tables<C> = { [Name in keyof C as Name extends `$${string}` | symbol ? never : Name]: C[Name] };

export interface PrismaModel<C> {
  /**
   * Runs `run` with the tables of the model over `executor`: a transaction of `db.tx`, whose statements, settings, rollback and
   * repetition it shares, or `db.query`, with which it can only read. `run` may be repeated with its transaction. The tables must
   * not be used after it.
   * @throws the error of the database as Kysely would throw it (`isUniqueViolation`, `AppError`); an error of Prisma where Prisma
   * itself refused, as for a row that `...OrThrow` did not find.
   */
  over<T>(executor: AnyQuery | AnyTx, run: (tables: Tables<C>) => Promise<T>): Promise<T>;
}

/** `db.tx` limits statements and transactions; these values only switch off the limits of Prisma. */
const LIMITS = { maxWait: 60_000, timeout: 2_147_483_647 };

const uses = new AsyncLocalStorage<Use>();

/**
 * A Prisma client, used only to write statements. It has no connections and knows no database, so one client serves the whole
 * process. It is loaded at its first use, at the cost of time and memory named in docs/adr/0023-prisma.md.
 * @param schema schema of its tables.
 * @param load creates the client; called once.
 */
export function prismaModel<C>(schema: string, load: (adapter: PrismaAdapter) => C): PrismaModel<C> {
  let client: C | undefined;
  return {
    over: async <T>(executor: AnyQuery | AnyTx, run: (tables: Tables<C>) => Promise<T>): Promise<T> => {
      const loaded = (client ??= load(adapterFactory(schema, () => uses.getStore()))) as unknown as Client;
      const use: Use = { executor, context: new AsyncResource('prisma') };
      try {
        return (await uses.run(use, () => loaded.$transaction(run, LIMITS))) as T;
      } catch (error) {
        throw use.failure ?? error;
      }
    },
  };
}

import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import type { NamedQuery } from './driver';
import { type PreparedStatement, runHot } from './hot-query';
import { translateError } from './sql-errors';
import { type AnyQuery, type AnyTx, isInTransaction } from './transaction-scope';

/** A `Db`, a query builder or a transaction; the types of its tables do not matter here. */
type Executor = { pool: pg.Pool } | AnyQuery | AnyTx;

/**
 * Runs a hot statement and returns its rows, about a third faster than with a fresh parse and plan. Runs inside `tx` or on the pool
 * of `db`. Objects and lists among the values must be JSON text already (`JSON.stringify`).
 */
export async function prepared<Row extends object>(
  executor: Executor,
  statement: PreparedStatement,
  values: readonly unknown[],
): Promise<Row[]> {
  if ('pool' in executor) {
    if (isInTransaction())
      throw new Error(`statement ${statement.name} outside of the open transaction: pass tx to it`);
    try {
      return (await runHot(executor.pool, statement, values)) as Row[];
    } catch (error) {
      throw translateError(error);
    }
  }
  const query: NamedQuery = {
    ...CompiledQuery.raw(statement.text, values as unknown[]),
    statementName: statement.name,
  };
  return (await executor.executeQuery<Row>(query)).rows;
}

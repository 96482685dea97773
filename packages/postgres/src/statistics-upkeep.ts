import type { Db } from './db';

/** Number of rows from which a plan matters; PostgreSQL's own upkeep begins there too. */
const FIRST_ROWS = 50;
/** Growth since the last statistics, as a factor of rows, at which a table is analyzed again: only a few times in its life. */
const GROWTH = 3;
const MAX_TABLES = 10;
/** A table that grew is likely to grow further: look again soon. */
const AGAIN_MS = 3_000;

/**
 * A loop that analyzes the tables of this service that have outgrown their statistics. PostgreSQL itself does so once a minute at
 * most. Until then, a plan made while a table was empty reads the whole table, or uses the index of another column. New statistics
 * make every connection plan anew. Safe on every replica: a table that is locked by others is skipped. After a crash, the next tick
 * of any replica goes on. `tickOnce` returns the number of analyzed tables, at most 10, and whether it wants to look again soon.
 */
export function createStatisticsUpkeep(deps: {
  // biome-ignore lint/suspicious/noExplicitAny: works on the schema of any service.
  db: Db<any>;
}): { tickOnce(): Promise<{ tables: number; againInMs?: number }> } {
  const outgrown = `select format('%I.%I', s.schemaname, s.relname) as "table"
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where s.n_live_tup > ${FIRST_ROWS} + ${GROWTH} * greatest(c.reltuples, 0) and pg_has_role(c.relowner, 'usage')
      and s.schemaname = current_schema()
    order by s.n_live_tup limit ${MAX_TABLES}`;
  return {
    tickOnce: async () => {
      const { rows } = await deps.db.pool.query<{ table: string }>(outgrown);
      for (const { table } of rows) await deps.db.pool.query(`analyze (skip_locked) ${table}`);
      return rows.length > 0 ? { tables: rows.length, againInMs: AGAIN_MS } : { tables: 0 };
    },
  };
}

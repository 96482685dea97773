import type { Db } from './db';

/** Rows from which a plan matters; PostgreSQL's own upkeep begins there too. */
const FIRST_ROWS = 50;
/** So many times the rows that its statistics know of: a table is read for them a few times in its life. */
const GROWTH = 3;
const MAX_TABLES = 10;
/** Where something grows more will. */
const AGAIN_MS = 3_000;

/**
 * A loop that gives the tables of this service which have outgrown their statistics new ones. PostgreSQL looks after them once a minute at most; until then what was planned while a table was
 * empty reads the whole of it, or by the index of another column. New statistics make every connection plan anew. Safe
 * on every replica: a table that somebody is at work on is left to them. Crash: the next tick, of anybody.
 * `tickOnce` answers how many tables it read, at most 10, and whether it wants to look again soon.
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

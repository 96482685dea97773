import { type Db, prepared, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import { behind, type Place, type Placed, placedAt } from '../../store/round.sql';
import type { DB } from '../../store/tables.gen';
import { isAwaited, WAITS_WITHOUT_WORKER, waitsWithoutWorker } from '../../store/waiting-task';

type Reader = Db<DB>['query'] | Tx<DB>;

/** An operation that waits without a worker. */
export interface DeferredTask {
  id: string;
  execution_id: string;
}

/** SQL condition: `e` is the running execution of the task `t`. */
const IS_RUNNING = `e.graph_id = t.graph_id and e.phase = 'running'`;

/**
 * Looks up the waiting operations first, by their index. Left to the planner, a young database without statistics scans all
 * executions of the tenant for each running one.
 */
const UNTIL = {
  name: 'deferred-until',
  text: `with waiting as materialized (
      select t.id, t.execution_id, t.graph_id, t.deferral->>'untilExecution' as until from tasks t
      where t.deferral->>'untilExecution' = any($1::text[]) and ${WAITS_WITHOUT_WORKER}
    )
    select t.id, t.execution_id from waiting t
    join executions c on c.id = t.until::uuid and c.phase = 'ended'
    join executions e on ${IS_RUNNING} and e.tenant = c.tenant`,
};

/** Returns the operations that wait for one of these executions, where it has ended and belongs to the operation's tenant. */
export async function deferredUntil(
  db: Pick<Db<DB>, 'pool'>,
  executionIds: readonly string[],
): Promise<DeferredTask[]> {
  return await prepared(db, UNTIL, [executionIds]);
}

/** Returns the operations whose awaited execution ended more than `olderThanMs` ago: nobody has woken them. */
export async function forgottenDeferred(
  reader: Reader,
  olderThanMs: number,
  limit: number,
  place: Place | null,
): Promise<(DeferredTask & Placed)[]> {
  const { rows } = await sql<DeferredTask & Placed>`
    select t.id, t.execution_id, ${placedAt(sql`c.ended_at`)}
    from tasks t join executions e on ${sql.raw(IS_RUNNING)} and ${waitsWithoutWorker}
    join executions c on ${isAwaited} and c.tenant = e.tenant
    where c.phase = 'ended' and c.ended_at < app_now() - make_interval(secs => ${olderThanMs / 1000})
      and ${behind(place, sql`c.ended_at`, sql`t.id`)}
    order by c.ended_at, t.id limit ${limit}`.execute(reader);
  return rows;
}

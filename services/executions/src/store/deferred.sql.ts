import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from './tables.gen';
import { isAwaited, waitsWithoutWorker } from './waiting-task';

type Reader = Db<DB>['query'] | Tx<DB>;

/** An operation that waits without a worker. */
export interface DeferredTask {
  id: string;
  execution_id: string;
}

/** `t` waits without a worker and `e` is its running execution. */
const WAITS = sql`e.graph_id = t.graph_id and e.phase = 'running' and ${waitsWithoutWorker}`;

/** Operations that wait for the end of one of these executions of their tenant which have ended. */
export async function deferredUntil(
  reader: Reader,
  executionIds: readonly string[],
): Promise<DeferredTask[]> {
  const { rows } = await sql<DeferredTask>`
    select t.id, t.execution_id from executions c
    join tasks t on t.deferral->>'untilExecution' = c.id::text
    join executions e on ${WAITS} and e.tenant = c.tenant
    where c.id = any(${[...executionIds]}::uuid[]) and c.phase = 'ended'`.execute(reader);
  return rows;
}

/** Operations whose execution to wait for has ended for so long: nobody has woken them. */
export async function forgottenDeferred(
  reader: Reader,
  olderThanMs: number,
  limit: number,
): Promise<DeferredTask[]> {
  const { rows } = await sql<DeferredTask>`
    select t.id, t.execution_id from tasks t join executions e on ${WAITS}
    join executions c on ${isAwaited} and c.tenant = e.tenant
    where c.phase = 'ended' and c.ended_at < app_now() - make_interval(secs => ${olderThanMs / 1000})
    order by c.ended_at limit ${limit}`.execute(reader);
  return rows;
}

import { type Db, prepared, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from './tables.gen';
import { isAwaited, WAITS_WITHOUT_WORKER } from './waiting-task';

type Reader = Db<DB>['query'] | Tx<DB>;

/** An operation that waits without a worker. */
export interface DeferredTask {
  id: string;
  execution_id: string;
}

/** `t` waits without a worker and `e` is its running execution. */
const WAITS = `e.graph_id = t.graph_id and e.phase = 'running' and ${WAITS_WITHOUT_WORKER}`;

/** Asked at each end of an execution, and nearly always in vain. */
const UNTIL = {
  name: 'deferred-until',
  text: `select t.id, t.execution_id from executions c
    join tasks t on t.deferral->>'untilExecution' = c.id::text
    join executions e on ${WAITS} and e.tenant = c.tenant
    where c.id = any($1::uuid[]) and c.phase = 'ended'`,
};

/** Operations that wait for the end of one of these executions of their tenant which have ended. */
export async function deferredUntil(
  db: Pick<Db<DB>, 'pool'>,
  executionIds: readonly string[],
): Promise<DeferredTask[]> {
  return await prepared(db, UNTIL, [executionIds]);
}

/** Operations whose execution to wait for has ended for so long: nobody has woken them. */
export async function forgottenDeferred(
  reader: Reader,
  olderThanMs: number,
  limit: number,
): Promise<DeferredTask[]> {
  const { rows } = await sql<DeferredTask>`
    select t.id, t.execution_id from tasks t join executions e on ${sql.raw(WAITS)}
    join executions c on ${isAwaited} and c.tenant = e.tenant
    where c.phase = 'ended' and c.ended_at < app_now() - make_interval(secs => ${olderThanMs / 1000})
    order by c.ended_at limit ${limit}`.execute(reader);
  return rows;
}

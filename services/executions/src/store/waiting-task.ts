import { sql } from 'kysely';

/**
 * Condition that task `t` waits without a worker (Deferral of packages/task-graph), in the form of the indexes of migration 0100.
 */
export const WAITS_WITHOUT_WORKER =
  "t.deferral is not null and t.state = 'pending' and t.not_before is not null";
export const waitsWithoutWorker = sql.raw<boolean>(WAITS_WITHOUT_WORKER);

/** Ids of all executions whose end operations wait for. */
export const awaitedIds = sql`(select (t.deferral->>'untilExecution')::uuid from tasks t where ${waitsWithoutWorker})`;

/** Condition that `c` is the execution that task `t` waits or waited for. */
export const isAwaited = sql`c.id = (t.deferral->>'untilExecution')::uuid`;

import type * as real from '../../../../services/executions/src/executions/store/queue.sql';
import type {
  Startable,
  startableMembers,
} from '../../../../services/executions/src/groups/store/execution-groups.sql';
import type { ExecutionRow } from '../../../../services/executions/src/store/rows';
import { holdNamed, type MemoryExecution } from '../database';
import { allSeenBy, databaseOf, memoryTx, statement } from './access';
import { waitingForEnds } from './deferred.sql';
import { leftOf } from './left-runs.sql';

export const lockStarts: typeof real.lockStarts = (tx, isSystemWide) =>
  holdNamed(memoryTx(tx), STARTS, !isSystemWide);
export const lockStartOf: typeof real.lockStartOf = async (tx, tenant, id) => {
  await holdNamed(memoryTx(tx), STARTS, true);
  await holdNamed(memoryTx(tx), `guard ${tenant} ${id}`);
};
export const lockDequeue: typeof real.lockDequeue = (tx) => holdNamed(memoryTx(tx), 'dequeue');

/** The name of the lock for starts. */
export const STARTS = 'starts';
export const isWide = (row: ExecutionRow): boolean => row.deployment_id === null && row.phase !== 'ended';

export const blockingSystemExecutions: typeof real.blockingSystemExecutions = async (
  db,
  isNested = false,
) => {
  await statement(db);
  return rowsSeenBy(db).filter((row) => isWide(row) && !(isNested && row.phase === 'waiting'));
};
export const executionsAtWork: typeof real.executionsAtWork = async (db, except) => {
  await statement(db);
  return rowsSeenBy(db)
    .filter((row) => isAtWork(row) && row.id !== except)
    .map(({ id }) => id);
};
/** Whether an operation of another execution waits for its end. */
export function isAwaited(reader: object, id: string): boolean {
  return [...allSeenBy(reader)].some(({ tasks }) =>
    [...tasks.values()].some(
      ({ state, deferral, not_before }) =>
        state === 'pending' && not_before !== null && deferral?.untilExecution === id,
    ),
  );
}
export const isAwaitedByOther: typeof real.isAwaitedByOther = async (db, id) => {
  await statement(db);
  return isAwaited(db, id);
};

const isQueued = ({ phase, status }: ExecutionRow): boolean => phase === 'waiting' && status === 'queued';
const isAtWork = ({ phase }: ExecutionRow): boolean => phase !== 'waiting' && phase !== 'ended';
const byAge = (a: ExecutionRow, b: ExecutionRow): number =>
  a.created_at < b.created_at || (a.created_at === b.created_at && a.id < b.id) ? -1 : 1;
const rowsSeenBy = (reader: object): ExecutionRow[] => [...allSeenBy(reader)].map(({ row }) => row);

export const anythingWaiting: typeof real.anythingWaiting = async (db, endedIds = []) => {
  await statement(db);
  const groups = [...databaseOf(db).groups.values()].some((group) => group.has_queued);
  const deferred = waitingForEnds(db, endedIds).length > 0;
  return { queue: rowsSeenBy(db).some(isQueued), groups, deferred };
};

/** Whether all its operations wait without a worker. */
function onlyWaits({ row, tasks }: MemoryExecution): boolean {
  if (row.phase !== 'running') return false;
  const own = [...tasks.values()].filter((task) => task.graph_id === row.graph_id);
  const waits = own.some(
    ({ state, deferral, not_before }) => state === 'pending' && deferral !== null && not_before !== null,
  );
  return waits && !own.some(({ spec, state }) => spec.kind === 'operation' && /^(sent|started)$/.test(state));
}

/** Whether the execution occupies a place. An execution that only waits for others gives its place to them. */
export const takesPlace = (one: MemoryExecution): boolean =>
  isAtWork(one.row) && one.row.phase !== 'awaiting' && !onlyWaits(one);

export const countAtWork: typeof real.countAtWork = async (db) => {
  await statement(db);
  const count = [...allSeenBy(db)].filter(takesPlace).length;
  databaseOf(db).onCounted();
  return count;
};

/**
 * Whether nothing of its deployment is at work, and nothing was queued before it. The queue order does not count when an
 * operation waits for it.
 */
function isUnblocked(reader: object, one: ExecutionRow): boolean {
  if (one.is_forced) return true;
  if (leftOf(reader, one.deployment_id, one.id).length > 0) return false;
  const mayOvertake = isAwaited(reader, one.id);
  return !rowsSeenBy(reader).some(
    (other) =>
      other.deployment_id === one.deployment_id &&
      other.id !== one.id &&
      (isAtWork(other) || (!mayOvertake && isQueued(other) && byAge(other, one) < 0)),
  );
}

export const queueHeads: typeof real.queueHeads = async (db, limit, except) => {
  await statement(db);
  const rows = rowsSeenBy(db).filter(({ id }) => !except.includes(id));
  const wide = rows.filter((row) => isQueued(row) && isWide(row)).sort(byAge);
  const isBehind = wide.length > 0;
  const heads = rows
    .filter((row) => isQueued(row) && row.execution_group_id === null && row.deployment_id !== null)
    .filter((row) => isUnblocked(db, row) && (!isBehind || isAwaited(db, row.id)))
    .sort(byAge)
    .slice(0, limit)
    .concat(wide.slice(0, 1));
  databaseOf(db).onQueueRead(heads);
  return heads;
};

/** Returns the members of a group that may start; when the group is full, only those that an operation waits for. */
export function startable(
  reader: object,
  { id, concurrency }: { id: string; concurrency: number },
  room: number,
  { which, among = null, except = [] }: Parameters<typeof startableMembers>[3],
): ExecutionRow[] {
  const places = concurrency - activeOf(reader, id);
  return rowsSeenBy(reader)
    .filter((row) => row.execution_group_id === id && mayStart(reader, row, which))
    .filter(({ id }) => places > 0 || isAwaited(reader, id))
    .filter(({ id }) => !except.includes(id) && (among?.includes(id) ?? true))
    .sort(byAge)
    .slice(0, Math.max(0, places > 0 ? Math.min(room, places) : room));
}

const activeOf = (reader: object, groupId: string): number =>
  rowsSeenBy(reader).filter((row) => row.execution_group_id === groupId && isAtWork(row)).length;
export const isAnyWaiting = (reader: object, groupId: string): boolean =>
  rowsSeenBy(reader).some((row) => row.execution_group_id === groupId && row.phase === 'waiting');
export const mayStart = (reader: object, row: ExecutionRow, which: Startable): boolean =>
  isQueued(row) && isUnblocked(reader, row) && (which === 'all' || isAwaited(reader, row.id));

import type { Envelope } from '@baton/contracts';
import type { ExecutionRow } from '../../../services/executions/src/store/rows';
import type { MemoryDatabase, MemoryExecution } from './database';
import { MESSAGES } from './engine';
import { isAwaited, takesPlace } from './store/queue.sql';

/** Checks of the queue that must hold after every commit (the promise G6, reference/rest-api.md 6.3). Breaches are texts. */
export interface QueueOracle {
  onCommit(after: ExecutionRow, isResume: boolean): void;
  /** Messages of a commit. */
  onSent(messages: readonly Envelope[]): void;
}

/** Maximum time from counting the executions at work to the commit of a start, when statements are slow. */
const COUNTED_WITHIN_MS = 15_000;

/** Whether the execution was released from its schedule so recently that another process may have chosen the next one before. */
const hasJustCome = ({ scheduled_for: at }: ExecutionRow): boolean =>
  at !== null && Date.parse(at) > Date.now() - COUNTED_WITHIN_MS;

const isAtWork = ({ phase }: ExecutionRow): boolean => phase !== 'waiting' && phase !== 'ended';

/**
 * Whether the execution occupies a place. One that waited has given its place to others, and continues later even if the place is
 * taken.
 */
function holdsPlace(one: MemoryExecution): boolean {
  return takesPlace(one) && [...one.tasks.values()].every(({ deferral }) => deferral === null);
}

/**
 * `limit`: maximum of executions at work. `forced`: executions that may be resumed beside others of their deployment. Checks that
 * at most one execution per deployment is at work, at most `concurrency` per group, and that executions of a deployment start
 * oldest first.
 */
export function newQueueOracle(
  database: () => MemoryDatabase,
  limit: number,
  forced: ReadonlySet<string>,
  breaches: string[],
): QueueOracle {
  const started = new Set<string>();
  const requested = new Set<string>();
  const resumed = new Map<string, number>();
  return {
    onSent(messages) {
      for (const { type, payload } of messages) {
        if (type !== MESSAGES.requested) continue;
        const { executionId: id, isResumed } = payload as { executionId: string; isResumed?: boolean };
        if (isResumed) continue;
        if (requested.has(id)) breaches.push(`${id} was taken from the queue a second time`);
        requested.add(id);
      }
    },
    onCommit(after, isResume) {
      // An execution that is cancelled in the queue ends without having begun.
      if (!isResume && (after.phase !== 'planning' || started.has(after.id))) return;
      started.add(after.id);
      if (isResume) resumed.set(after.id, Date.now());
      const rows = [...database().executions.values()].map(({ row }) => row);
      const say = (text: string) => void breaches.push(`${after.id} began ${text}`);
      if (!isResume && after.scheduled_for !== null && Date.parse(after.scheduled_for) > Date.now())
        say('before its time');
      const active = rows.filter((row) => isAtWork(row) && started.has(row.id));
      // Direct starts and resumes ignore the limit and the queue; one may happen after the count.
      const isCounted = (row: ExecutionRow) => (resumed.get(row.id) ?? 0) < Date.now() - COUNTED_WITHIN_MS;
      const places = active.filter(
        (row) => isCounted(row) && holdsPlace(database().executions.get(row.id)!),
      ).length;
      if (limit === 1 && !isResume && places > limit)
        say(`as number ${places} at work, allowed are ${limit}`);
      for (const other of active)
        if (other.id !== after.id && (other.deployment_id === null || after.deployment_id === null))
          say(`beside ${other.id}, and one of them is to be alone`);
      const others = rows.filter((row) => row.deployment_id === after.deployment_id && row.id !== after.id);
      for (const other of others) {
        if (active.includes(other)) {
          if (!isResume || !forced.has(after.id)) say(`beside ${other.id} on the same deployment`);
        } else if (
          limit === 1 &&
          !isResume &&
          !isAwaited({ database: database() }, after.id) &&
          other.status === 'queued' &&
          !hasJustCome(other) &&
          other.created_at < after.created_at
        )
          say(`before ${other.id}, which was queued earlier on the same deployment`);
      }
      const group = database().groups.get(after.execution_group_id ?? '');
      // An execution that is resumed alone ignores the limit of its group, because it does not take the group's lock.
      if (!group || isResume) return;
      const members = active.filter(
        (row) => row.execution_group_id === group.id && !resumed.has(row.id),
      ).length;
      if (members > group.concurrency && !isAwaited({ database: database() }, after.id))
        say(`as number ${members} of its group, allowed are ${group.concurrency}`);
    },
  };
}

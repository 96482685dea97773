import type { ExecutionRow } from '../../../services/executions/src/store/rows';
import type { MemoryDatabase } from './database';
import { takesPlace } from './store/queue.sql';

/** What must hold of the queue after every commit (the promise G6, reference/rest-api.md 6.3). Breaches are texts. */
export interface QueueOracle {
  onCommit(after: ExecutionRow): void;
}

const isAtWork = ({ phase }: ExecutionRow): boolean => phase !== 'waiting' && phase !== 'ended';

/**
 * `limit`: of all executions at work. At most one of a deployment, as many of a group as it says, and of a deployment the
 * oldest first.
 */
export function newQueueOracle(
  database: () => MemoryDatabase,
  limit: number,
  breaches: string[],
): QueueOracle {
  const started = new Set<string>();
  return {
    onCommit(after) {
      // One that is cancelled in the queue ends without having begun.
      if (after.phase !== 'planning' || started.has(after.id)) return;
      started.add(after.id);
      const rows = [...database().executions.values()].map(({ row }) => row);
      const say = (text: string) => void breaches.push(`${after.id} began ${text}`);
      const active = rows.filter((row) => isAtWork(row) && started.has(row.id));
      // Direct starts take no notice of the limit, nor of who waits.
      const places = active.filter((row) => takesPlace(database().executions.get(row.id)!)).length;
      if (limit === 1 && places > limit) say(`as number ${places} at work, allowed are ${limit}`);
      const others = rows.filter((row) => row.deployment_id === after.deployment_id && row.id !== after.id);
      for (const other of others) {
        if (active.includes(other)) say(`beside ${other.id} on the same deployment`);
        else if (limit === 1 && other.status === 'queued' && other.created_at < after.created_at)
          say(`before ${other.id}, which was queued earlier on the same deployment`);
      }
      const group = database().groups.get(after.execution_group_id ?? '');
      if (!group) return;
      const members = active.filter((row) => row.execution_group_id === group.id).length;
      if (members > group.concurrency)
        say(`as number ${members} of its group, allowed are ${group.concurrency}`);
    },
  };
}

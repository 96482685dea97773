import type { Loop } from '@baton/service-runtime';
import { announceUnclaimed } from '../commands/announce-unclaimed';
import { settleForgotten } from '../commands/await-nested';
import { deliverStored } from '../commands/deliver-states';
import { dequeueExecutions } from '../commands/dequeue-executions';
import { wakeForgotten } from '../commands/wake-deferred';
import { wakeExecutions } from '../commands/wake-executions';
import type { EngineDeps } from '../engine/deps';
import { eachAlone } from '../engine/each-alone';
import { purgeBatches } from '../store/events.sql';
import { undeliveredExecutions } from '../store/instance-states.sql';
import { leaseReaper } from './lease-reaper';

const UNDELIVERED_MS = 3_000;
const BATCH_MEMORY_S = 24 * 3600;

/** What repairs after a crash, on every replica: each tick is bounded and safe beside others. */
export function engineLoops(deps: EngineDeps): Loop[] {
  return [
    { name: 'wake-executions', intervalMs: 2_000, tickOnce: () => wakeExecutions(deps) },
    { name: 'lease-reaper', intervalMs: 1_000, tickOnce: leaseReaper(deps) },
    { name: 'announce-unclaimed', intervalMs: 2_000, tickOnce: () => announceUnclaimed(deps) },
    { name: 'dequeue', intervalMs: 2_000, tickOnce: () => dequeueExecutions(deps) },
    {
      name: 'deliver-states',
      intervalMs: 5_000,
      tickOnce: async () => {
        const ids = await undeliveredExecutions(deps.db.query, UNDELIVERED_MS, 20);
        await eachAlone(ids, (id) => deliverStored(deps, id));
      },
    },
    { name: 'settle-nested', intervalMs: 10_000, tickOnce: () => settleForgotten(deps) },
    { name: 'settle-deferred', intervalMs: 10_000, tickOnce: () => wakeForgotten(deps) },
    {
      name: 'purge-batches',
      intervalMs: 3_600_000,
      tickOnce: () => deps.db.tx((tx) => purgeBatches(tx, BATCH_MEMORY_S)),
    },
  ];
}

import type { Loop } from '@baton/service-runtime';
import { purgeBatches } from '../../events/store/events.sql';
import { dequeueExecutions } from '../../executions/commands/dequeue-executions';
import { inTurn, newRound } from '../../loops/rounds';
import { announceUnclaimed } from '../commands/announce-unclaimed';
import { settleForgotten } from '../commands/await-nested';
import { deliverStored } from '../commands/deliver-states';
import { tellOwedEnds } from '../commands/tell-owed-ends';
import { wakeForgotten } from '../commands/wake-deferred';
import { newWakeRounds, wakeExecutions } from '../commands/wake-executions';
import type { EngineDeps } from '../deps';
import { undeliveredExecutions } from '../store/instance-states.sql';
import { leaseReaper } from './lease-reaper';

const UNDELIVERED_MS = 3_000;
/** Executions in one tick. */
const DELIVERED = 20;
const BATCH_MEMORY_S = 24 * 3600;

/** What repairs after a crash, on every replica: each tick is bounded and safe beside others. */
export function engineLoops(deps: EngineDeps): Loop[] {
  const wakes = newWakeRounds();
  const [undelivered, owed, nested, deferred] = [newRound(), newRound(), newRound(), newRound()];
  return [
    { name: 'wake-executions', intervalMs: 2_000, tickOnce: () => wakeExecutions(deps, wakes) },
    { name: 'lease-reaper', intervalMs: 1_000, tickOnce: leaseReaper(deps) },
    { name: 'announce-unclaimed', intervalMs: 2_000, tickOnce: () => announceUnclaimed(deps) },
    { name: 'dequeue', intervalMs: 2_000, tickOnce: () => dequeueExecutions(deps) },
    {
      name: 'deliver-states',
      intervalMs: 5_000,
      tickOnce: () =>
        inTurn(deps, undelivered, {
          limit: DELIVERED,
          read: (place) => undeliveredExecutions(deps.db.query, UNDELIVERED_MS, DELIVERED, place),
          keyOf: ({ id }) => id,
          work: (id) => deliverStored(deps, id),
        }),
    },
    // Not with the timers, which would wait for calls that hang.
    { name: 'tell-owed-ends', intervalMs: 2_000, tickOnce: () => tellOwedEnds(deps, owed) },
    { name: 'settle-nested', intervalMs: 10_000, tickOnce: () => settleForgotten(deps, nested) },
    { name: 'settle-deferred', intervalMs: 10_000, tickOnce: () => wakeForgotten(deps, deferred) },
    {
      name: 'purge-batches',
      intervalMs: 3_600_000,
      tickOnce: () => deps.db.tx((tx) => purgeBatches(tx, BATCH_MEMORY_S)),
    },
  ];
}

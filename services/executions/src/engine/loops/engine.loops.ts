import type { Loop } from '@baton/service-runtime';
import { type DequeueExecutionsDeps, dequeueExecutions } from '../../executions/commands/dequeue-executions';
import { newRound } from '../../loops/rounds';
import type { Ports } from '../../ports';
import { announceToAgents } from '../commands/announce-to-agents';
import { announceUnclaimed } from '../commands/announce-unclaimed';
import { forgetBatches } from '../commands/append-task-events';
import { settleForgotten } from '../commands/await-nested';
import { deliverForgotten } from '../commands/deliver-states';
import { type TellOwedEndsDeps, tellOwedEnds } from '../commands/tell-owed-ends';
import { wakeForgotten } from '../commands/wake-deferred';
import { newWakeRounds, wakeExecutions } from '../commands/wake-executions';
import { agentWatch, leaseReaper } from './lease-reaper';

type EngineLoopsDeps = Pick<Ports, 'db'> & TellOwedEndsDeps & DequeueExecutionsDeps;

/** Returns the loops that repair after a crash. They run on every replica: each tick is bounded and safe beside other replicas. */
export function engineLoops(deps: EngineLoopsDeps): Loop[] {
  const wakes = newWakeRounds();
  const [undelivered, owed, nested, deferred] = [newRound(), newRound(), newRound(), newRound()];
  return [
    { name: 'wake-executions', intervalMs: 2_000, tickOnce: () => wakeExecutions(deps, wakes) },
    { name: 'lease-reaper', intervalMs: 1_000, tickOnce: leaseReaper(deps) },
    { name: 'give-up-agents', intervalMs: 2_000, tickOnce: agentWatch(deps) },
    { name: 'announce-to-agents', intervalMs: 10_000, tickOnce: () => announceToAgents(deps) },
    { name: 'announce-unclaimed', intervalMs: 2_000, tickOnce: () => announceUnclaimed(deps) },
    { name: 'dequeue', intervalMs: 2_000, tickOnce: () => dequeueExecutions(deps) },
    {
      name: 'deliver-states',
      intervalMs: 5_000,
      tickOnce: () => deliverForgotten(deps, undelivered),
    },
    // A loop of its own: as a part of wake-executions, its calls that hang would hold up the timers.
    { name: 'tell-owed-ends', intervalMs: 2_000, tickOnce: () => tellOwedEnds(deps, owed) },
    { name: 'settle-nested', intervalMs: 10_000, tickOnce: () => settleForgotten(deps, nested) },
    { name: 'settle-deferred', intervalMs: 10_000, tickOnce: () => wakeForgotten(deps, deferred) },
    {
      name: 'purge-batches',
      intervalMs: 3_600_000,
      tickOnce: () => forgetBatches(deps),
    },
  ];
}

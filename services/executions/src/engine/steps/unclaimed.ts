import { addressOfWorker } from '@baton/contracts';
import { agentOf, type GraphState } from '@baton/task-graph';
import type { TimedExecution } from '../../executions/store/executions.sql';

/**
 * The dispatched operations that nobody has claimed: those of workers in one set, those of each agent in a set of its own. So a claim
 * reads only operations that its worker may take, and a graph without agents costs nothing more.
 */

export interface Unclaimed {
  /** Dispatched operations of workers that nobody claimed yet, oldest first. */
  unclaimed: Set<number>;
  /** The same by address of the agent that alone may claim them; an agent without such operations has no entry. */
  unclaimedByAgent: Map<string, Set<number>>;
}

type Graph = Unclaimed & { graph: GraphState };

const NOTHING: ReadonlySet<number> = new Set();

/**
 * Returns the unclaimed operations that `workerId` may take. A worker takes no operation of an agent, an agent only those with its
 * own address, and only in executions of its tenant: a blueprint may name any agent as its proxy.
 */
export function openTo(
  { unclaimed, unclaimedByAgent, execution }: Unclaimed & { execution: Pick<TimedExecution, 'tenant'> },
  workerId: string,
): ReadonlySet<number> {
  const address = addressOfWorker(workerId);
  if (address === null) return unclaimed;
  return (isOfTenant(address, execution.tenant) && unclaimedByAgent.get(address)) || NOTHING;
}

/** Returns whether the agent with this address belongs to the tenant. */
export const isOfTenant = (address: string, tenant: string): boolean => address.startsWith(`${tenant}/`);

/** Notes that an operation was dispatched. */
export function noteUnclaimed(loaded: Graph, idx: number): void {
  const agent = agentOf(loaded.graph.nodes[idx]!.spec);
  if (agent === null) {
    loaded.unclaimed.add(idx);
    return;
  }
  const known = loaded.unclaimedByAgent.get(agent);
  if (known) known.add(idx);
  else loaded.unclaimedByAgent.set(agent, new Set([idx]));
}

/** Notes that an operation was claimed, or is not dispatched any more. */
export function noteClaimed(loaded: Graph, idx: number): void {
  if (loaded.unclaimed.delete(idx) || loaded.unclaimedByAgent.size === 0) return;
  const agent = agentOf(loaded.graph.nodes[idx]!.spec);
  const own = agent === null ? undefined : loaded.unclaimedByAgent.get(agent);
  if (own?.delete(idx) && own.size === 0) loaded.unclaimedByAgent.delete(agent!);
}

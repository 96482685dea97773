import { agentTaskReady, type Envelope, firstTaskReady, taskReady } from '@baton/contracts';
import { outgoing, unsent } from '@baton/postgres';
import { isWorkflowCode } from '@baton/task-graph';
import type { ExecutionRow } from '../../store/rows';
import type { LoadedGraph } from './graph-memory';
import { isOfTenant } from './unclaimed';

/**
 * Limit of the wake-ups of one execution that are on their way at a time. A worker that answers one takes as many operations as it
 * has room for, and more with its reports: more messages than workers bring nothing.
 */
const MAX_WAKE_UPS = 32;
/** After this a wake-up counts as lost, or as answered through another replica. */
const GIVEN_UP_MS = 5_000;

/** Returns wake-ups for unclaimed operations, until MAX_WAKE_UPS of them are on their way. Times are monotonic ms. */
export function wakeUpsOf(
  execution: ExecutionRow,
  loaded: LoadedGraph,
  nowMs: number,
): Omit<Envelope, 'time'>[] {
  const { announced, unclaimed } = loaded;
  for (const [idx, since] of announced) if (since < nowMs - GIVEN_UP_MS) announced.delete(idx);
  const about = { tenant: execution.tenant, key: execution.id };
  const messages = wakeUpsOfAgents(execution, loaded, nowMs);
  for (const idx of unclaimed) {
    if (announced.size >= MAX_WAKE_UPS) break;
    if (announced.has(idx)) continue;
    // The first wake-up of an execution that has no worker yet must not wait behind all operations of other executions.
    const message = announced.size + loaded.holders.size === 0 ? firstTaskReady : taskReady;
    announced.set(idx, nowMs);
    const isWorkflow = isWorkflowCode(loaded.graph.nodes[idx]!.spec);
    const payload = {
      executionId: execution.id,
      taskId: loaded.ids[idx]!,
      ...(isWorkflow && { isWorkflow }),
    };
    messages.push(unsent(outgoing(message, about, payload)));
  }
  return messages;
}

/** Limit of the agents that one step wakes; the others are woken by later steps, or ask by themselves. */
const MAX_AGENTS = 200;

/**
 * Returns one wake-up for each agent with an unclaimed operation, for its oldest one: the agent takes as many as it has room for.
 * The message goes to all gateways, and the one with the stream of the agent passes it on.
 */
function wakeUpsOfAgents(
  execution: ExecutionRow,
  { unclaimedByAgent, announcedToAgents, ids }: LoadedGraph,
  nowMs: number,
): Omit<Envelope, 'time'>[] {
  if (unclaimedByAgent.size === 0) {
    announcedToAgents.clear();
    return [];
  }
  for (const [idx, since] of announcedToAgents)
    if (since < nowMs - GIVEN_UP_MS) announcedToAgents.delete(idx);
  const messages: Omit<Envelope, 'time'>[] = [];
  for (const [agent, [oldest]] of unclaimedByAgent) {
    if (messages.length >= MAX_AGENTS) break;
    if (announcedToAgents.has(oldest!) || !isOfTenant(agent, execution.tenant)) continue;
    announcedToAgents.set(oldest!, nowMs);
    const payload = { agent, executionId: execution.id, taskId: ids[oldest!]! };
    messages.push(unsent(outgoing(agentTaskReady, { tenant: execution.tenant, key: execution.id }, payload)));
  }
  return messages;
}

/** Notes that a worker has answered the wake-up for this operation. */
export function noteAnswered(loaded: LoadedGraph, idx: number | null): void {
  if (idx === null) return;
  loaded.announced.delete(idx);
  loaded.announcedToAgents.delete(idx);
}

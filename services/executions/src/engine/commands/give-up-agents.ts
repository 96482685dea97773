import type { Happening, TaskError } from '@baton/task-graph';
import { inTurn, newRound } from '../../loops/rounds';
import type { Ports } from '../../ports';
import { type RunStepDeps, runStep, type StepPlanner } from '../steps/run-step';
import { isOfTenant } from '../steps/unclaimed';
import { type AwaitedAgentTask, unmetAgentTasks } from '../store/agent-tasks.sql';

export type GiveUpAgentsDeps = Pick<Ports, 'agents' | 'db' | 'log' | 'wake'> & RunStepDeps;

const BATCH = 200;

/**
 * Fails ready operations whose agent has not claimed them in time; returns their number. The failure is recoverable, as in the
 * original: the operation is tried again within its retries. Safe on every replica and after a crash: under the lock an operation
 * that was claimed, taken back or failed meanwhile is left alone.
 */
export async function giveUpAgents(deps: GiveUpAgentsDeps, round = newRound()): Promise<number> {
  const unmet = await inTurn(deps, round, {
    limit: BATCH,
    read: (place) => unmetAgentTasks(deps.db.query, deps.agents.waitMs, BATCH, place),
    keyOf: (task) => task.execution_id,
    work: (executionId, tasks) => failUnmet(deps, executionId, tasks),
  });
  return unmet.length;
}

async function failUnmet(
  deps: GiveUpAgentsDeps,
  executionId: string,
  tasks: readonly AwaitedAgentTask[],
): Promise<void> {
  const planned: StepPlanner = ({ loaded: { graph, unclaimedByAgent } }) => {
    if (graph.flags.cancel !== null) return null;
    const happenings = tasks.flatMap((task): Happening[] => {
      const { idx, attempt } = task;
      const isWaiting = unclaimedByAgent.get(task.agent)?.has(idx) && graph.nodes[idx]?.attempt === attempt;
      return isWaiting
        ? [{ kind: 'failed', idx, attempt, error: errorOf(task, deps.agents.waitMs), hasNotBegun: true }]
        : [];
    });
    return happenings.length > 0 ? { happenings } : null;
  };
  if (await runStep(deps, executionId, planned))
    deps.log.warn({ executionId, operations: tasks.length }, 'agents did not come for their operations');
}

function errorOf(task: AwaitedAgentTask, waitMs: number): TaskError {
  const { agent, tenant } = task;
  if (!isOfTenant(agent, tenant)) {
    const owner = agent.slice(0, agent.indexOf('/'));
    const message =
      `The host ${task.host_id} names an agent of tenant ${owner} as its proxy (agent_config.extra.proxy). ` +
      `An operation may only use agents of its own tenant, which is ${tenant}`;
    return { type: 'NonRecoverableError', message, recoverable: false };
  }
  return { type: 'RecoverableError', message: timedOut(task, waitMs), recoverable: true };
}

/** Begins as the text of the original, which scripts look for. */
function timedOut({ agent, agent_name, last_seen }: AwaitedAgentTask, waitMs: number): string {
  const host = agent.slice(agent.indexOf('/') + 1);
  const name = agent_name ?? host;
  const heard =
    last_seen === null
      ? 'The agent has never connected'
      : `The agent last asked for operations at ${last_seen}`;
  return (
    `Timed out waiting for agent: ${name}. It did not take the operation for host ${host} within ${lengthOf(waitMs)}. ` +
    `${heard}. To see its state: baton agents show ${name}`
  );
}

const lengthOf = (ms: number): string => (ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`);

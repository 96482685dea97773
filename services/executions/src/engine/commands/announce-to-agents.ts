import { agentTaskReady } from '@baton/contracts';
import { outbox, outgoing } from '@baton/postgres';
import type { Ports } from '../../ports';
import { unheardAgentTasks } from '../store/agent-tasks.sql';

/** Agents and executions in one round; the others wait for a later one, while agents that are away fail the oldest. */
const BATCH = 1_000;
const OLDER_THAN_MS = 5_000;

/**
 * Says again which agents have ready operations that nobody claimed: the message may be lost, and agents ask by themselves only every
 * quarter of an hour, because five hundred of them would be asking all the time. Returns the number of messages.
 */
export async function announceToAgents({ db }: Pick<Ports, 'db'>): Promise<number> {
  const tasks = await unheardAgentTasks(db.query, OLDER_THAN_MS, BATCH);
  if (tasks.length === 0) return 0;
  const messages = tasks.map(({ id: taskId, execution_id: executionId, tenant, agent }) =>
    outgoing(agentTaskReady, { tenant, key: executionId }, { agent, executionId, taskId }),
  );
  await db.tx((tx) => outbox.appendAll(tx, messages));
  return tasks.length;
}

import { addressOfWorker, type executionsRpc } from '@baton/contracts';
import type { Ports } from '../../ports';
import { requireNamed } from '../domain/agent-limits';
import { openAmong } from '../store/agent-tasks.sql';

/**
 * Divides the outcomes of a report: those about operations of the agent that reports, and the ids of the others, which are refused
 * without a look at their executions, because agents are not trusted. Outcomes of a worker of the manager are all its own here:
 * its leases decide later.
 * @throws AppError bad_parameters_error for more outcomes than an agent can have, or malformed ids
 */
export async function ownOutcomes(
  { db }: Pick<Ports, 'db'>,
  { workerId, outcomes }: executionsRpc.FinishTasksRequest,
): Promise<{ own: readonly executionsRpc.TaskOutcome[]; foreign: string[] }> {
  const address = addressOfWorker(workerId);
  if (address === null || outcomes.length === 0) return { own: outcomes, foreign: [] };
  const taskIds = outcomes.map(({ taskId }) => taskId);
  requireNamed(workerId, 'outcomes', taskIds);
  const executionOf = await openAmong(db.query, address, taskIds);
  const isOwn = ({ taskId, executionId }: executionsRpc.TaskOutcome): boolean =>
    executionOf.get(taskId) === executionId;
  return {
    own: outcomes.filter(isOwn),
    foreign: outcomes.filter((outcome) => !isOwn(outcome)).map(({ taskId }) => taskId),
  };
}

import { AppError, type Json, storableJson } from '@baton/kernel';
import { z } from 'zod';
import { readExecution } from '../../executions/store/executions.sql';
import type { Ports } from '../../ports';
import { staleRun, type WorkflowRun } from '../steps/code-run';
import { readCodeRun } from '../store/work.sql';
import { type DeliverStatesDeps, deliverAll } from './deliver-states';

type CallFromWorkflowDeps = Pick<Ports, 'db' | 'deployments'> & DeliverStatesDeps;

const request = z.discriminatedUnion('call', [
  /** Does only the part that precedes each call: the states are delivered, so that the model shows the work of the code's tasks. */
  z.object({ call: z.literal('settle') }),
  z.object({ call: z.literal('modification-start'), entities: z.record(z.string(), z.json()) }),
  z.object({ call: z.literal('modification-finish'), modificationId: z.string() }),
  z.object({ call: z.literal('modification-rollback'), modificationId: z.string() }),
]);

/** Answer to code in a dry run: its modification adds and removes nothing. */
const NOTHING_MODIFIED = { modification_id: '', added: [], removed: [], related: [] };

/**
 * Changes the model on behalf of workflow code: deployment modifications. Deployments returns the first result when it is called
 * again with the same key, so a crash at any point only repeats the call.
 * @throws AppError stale_attempt_error; bad_parameters_error for another call; the errors of the call itself.
 */
export async function callFromWorkflow(
  deps: CallFromWorkflowDeps,
  run: WorkflowRun,
  key: string,
  json: string,
): Promise<Json> {
  const parsed = request.safeParse(JSON.parse(storableJson(json)));
  if (!parsed.success)
    throw new AppError(
      'bad_parameters_error',
      'Workflow code may start, finish and roll back modifications',
      {
        field: 'call',
        expected: ['settle', 'modification-start', 'modification-finish', 'modification-rollback'],
      },
    );
  const [row, execution] = await Promise.all([
    readCodeRun(deps.db.query, run.executionId, run.taskId),
    readExecution(deps.db.query, run.executionId),
  ]);
  if (!execution || row?.attempt !== run.attempt || row.worker_id !== run.workerId) throw staleRun();
  await deliverAll(deps, execution);
  if (parsed.data.call === 'settle') return null;
  if (execution.is_dry_run) return parsed.data.call === 'modification-start' ? NOTHING_MODIFIED : null;
  const { tenant, id, workflow_id, blueprint_id, created_by } = execution;
  const deploymentId = execution.deployment_id ?? '';
  const context = { execution_id: id, workflow_id, blueprint_id, deployment_id: deploymentId };
  const asked: Json =
    parsed.data.call === 'modification-start' ? ({ ...parsed.data, context } as Json) : parsed.data;
  const of = { tenant, deploymentId, executionId: id, username: created_by };
  return await deps.deployments.call(of, `code:${key}`, asked);
}

import { cascadedRequestId } from '../../executions/domain/cascade';
import { latestExecutions } from '../../executions/store/executions.sql';
import { eachAlone } from '../../loops/each-alone';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';
import type { CancelMode } from '../domain/cancel';
import { type CancelExecutionDeps, cancelExecution, leaveUnfit } from './cancel-execution';
import { type ResumeExecutionDeps, resumeExecution } from './resume-execution';

export type ActOnComponentsDeps = Pick<Ports, 'db' | 'deployments'> &
  CancelExecutionDeps &
  ResumeExecutionDeps;

/**
 * Cancel and resume of the last executions of a deployment's components, together with an execution of the deployment
 * (reference/workflows.md 2.9, 2.10). Components of components follow with these executions themselves.
 */

/**
 * Cancels the unfinished last executions of the components, in the same mode. If the execution never began, only executions that
 * were started together with it are cancelled: it did not cause the others. This is a part of the execution's end, which is driven
 * until it is done (engine/commands/end-execution.ts), so it may be repeated.
 * @throws AppError of the rpc: the driver tries again.
 */
export async function cancelComponents(
  deps: ActOnComponentsDeps,
  execution: ExecutionRow,
  mode: CancelMode,
): Promise<void> {
  for (const child of await lastOfComponents(deps, execution)) {
    const isOurs =
      execution.started_at !== null ||
      child.request_id === cascadedRequestId(execution, child.deployment_id!);
    if (isOurs && child.phase !== 'ended') await leaveUnfit(cancelExecution(deps, child.id, mode));
  }
}

/**
 * Resumes the failed and cancelled last executions of the components, except an install: the operation of the component that waits
 * for it resumes it. Called with the durable message of the resume (engine/messages/on-execution-requested.ts), which may arrive
 * when the execution is cancelled again. An execution that runs again already is left alone, so this may be repeated. Each
 * execution is resumed alone: one that cannot be resumed holds up no other.
 * @throws the first error, after the others.
 */
export async function resumeComponents(deps: ActOnComponentsDeps, execution: ExecutionRow): Promise<void> {
  await eachAlone(await lastOfComponents(deps, execution), async (child) => {
    const isStopped = child.phase === 'ended' && child.status !== 'terminated';
    if (isStopped && child.workflow_id !== 'install')
      await leaveUnfit(resumeExecution(deps, child.id, false, { along: execution.id }).then(() => undefined));
  });
}

async function lastOfComponents(deps: ActOnComponentsDeps, execution: ExecutionRow): Promise<ExecutionRow[]> {
  const { tenant, deployment_id, is_dry_run } = execution;
  if (deployment_id === null || is_dry_run) return [];
  const ids = await deps.deployments.components(tenant, deployment_id);
  return ids.length === 0 ? [] : await latestExecutions(deps.db.query, tenant, ids);
}

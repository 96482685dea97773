import {
  endWithoutModel,
  type Stage,
  type StageLog,
  type StageResult,
  type WorkflowConfig,
  type WorkflowInput,
} from '@baton/task-graph';
import { workflowLog } from '../../events/domain/graph-events';
import { waitAfterFailMs } from '../../executions/domain/wait-after-fail';
import type { Ports } from '../../ports';
import type { ExecutionRow, NewEvent } from '../../store/rows';
import type { StepChanges } from '../store/step-write';

export type StageDeps = Pick<Ports, 'workflowConfig'>;

export const workflowConfigOf = (deps: StageDeps, execution: ExecutionRow): WorkflowConfig => ({
  ...deps.workflowConfig,
  tenant: execution.tenant,
  waitAfterFailMs: waitAfterFailMs(execution),
});

/** Returns the input from which a built-in workflow plans, without the model. */
export function inputOfWorkflow(deps: StageDeps, execution: ExecutionRow): Omit<WorkflowInput, 'model'> {
  return {
    workflowId: execution.workflow_id,
    executionId: execution.id,
    deploymentId: execution.deployment_id ?? '',
    blueprintId: execution.blueprint_id ?? '',
    parameters: execution.parameters,
    config: workflowConfigOf(deps, execution),
    resume: execution.is_resumed,
    dryRun: execution.is_dry_run,
    isRehearsal: execution.is_dry_run,
  };
}

/** Returns the changes of the execution's row for an end: phase `ending`, in which deployments is told the outcome first. */
export function endingChanges(end: Extract<Stage, { kind: 'end' }>): StepChanges {
  const outcome =
    end.outcome === 'succeeded'
      ? { status: 'terminated' as const, error: '' }
      : { status: 'failed' as const, error: end.error.message };
  return { phase: 'ending', outcome };
}

/** Returns the log lines of a stage as events. */
export const stageLog = (execution: ExecutionRow, { log }: { log?: readonly StageLog[] }): NewEvent[] =>
  (log ?? []).map((line) => workflowLog(execution, line.level, line.message));

/**
 * Returns the end of the workflow when nothing can follow `history`, with any model. Null when a stage follows, or when only the
 * model or workflow code can tell. Null also for an execution that is being cancelled: the planning handles the cancel.
 */
export function endAfter(
  deps: StageDeps,
  execution: ExecutionRow,
  history: readonly StageResult[],
): { changes: StepChanges; events: NewEvent[] } | null {
  if (execution.program === null || execution.status.endsWith('cancelling')) return null;
  const end = endWithoutModel(execution.program, inputOfWorkflow(deps, execution), history);
  return end && { changes: endingChanges(end), events: stageLog(execution, end) };
}

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
  waitAfterFailMs: waitAfterFailMs(execution),
});

/** What a built-in workflow plans from besides the model. */
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

/** What an end changes of the execution's row: it is told to deployments before the execution has ended. */
export function endingChanges(end: Extract<Stage, { kind: 'end' }>): StepChanges {
  const outcome =
    end.outcome === 'succeeded'
      ? { status: 'terminated' as const, error: '' }
      : { status: 'failed' as const, error: end.error.message };
  return { phase: 'ending', outcome };
}

/** Log lines of a stage, as events. */
export const stageLog = (execution: ExecutionRow, { log }: { log?: readonly StageLog[] }): NewEvent[] =>
  (log ?? []).map((line) => workflowLog(execution, line.level, line.message));

/**
 * The end of the workflow when nothing follows `history` whatever the model shows; null when a stage follows, or when
 * that takes the model, or workflow code, to know. An execution that is being cancelled is planned, which sees that.
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

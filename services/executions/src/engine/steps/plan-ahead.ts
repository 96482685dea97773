import { inPieces } from '@baton/kernel';
import { nextStageInPieces, type Stage, type StageResult } from '@baton/task-graph';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';
import { callResult } from './call-result';
import { inputOfWorkflow } from './stage-end';

export type PlanAheadDeps = Pick<Ports, 'deployments' | 'workflowConfig'>;

/** Limit of the stages of a plan; more means a workflow that never ends. */
const MAX_STAGES = 200;

export interface WorkflowPlan {
  stages: Exclude<Stage, { kind: 'end' }>[];
  /** Reason why the workflow would fail, as far as it is known in advance; null: none. */
  error: string | null;
}

/**
 * Plans every stage of a built-in workflow from the present model, as if each earlier stage succeeded. Changes nothing: calls are
 * rehearsed.
 * @throws AppError of the rpc to deployments.
 */
export async function planAhead(
  deps: PlanAheadDeps,
  execution: ExecutionRow,
  program: string,
): Promise<WorkflowPlan> {
  const { tenant, deployment_id: deploymentId } = execution;
  const empty = { blueprintId: execution.blueprint_id ?? '', model: { nodes: [], nodeInstances: [] } };
  const { blueprintId, model } = deploymentId ? await deps.deployments.model(tenant, deploymentId) : empty;
  const input = {
    ...inputOfWorkflow(deps, execution),
    blueprintId,
    model,
    resume: false,
    isRehearsal: true,
  };
  const plan: WorkflowPlan = { stages: [], error: null };
  const history: StageResult[] = [];
  while (plan.stages.length < MAX_STAGES) {
    const stage = await inPieces(nextStageInPieces(program, input, history));
    if (stage.kind === 'end') {
      if (stage.outcome === 'failed') plan.error = stage.error.message;
      return plan;
    }
    plan.stages.push(stage);
    const { kind, name, memo } = stage;
    if (kind === 'graph') history.push({ kind, name, memo, outcome: { kind: 'succeeded' } });
    else history.push(await callResult(deps, execution, stage));
  }
  return plan;
}

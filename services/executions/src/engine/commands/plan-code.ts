import { type JsonObject, nullIfNotFound } from '@baton/kernel';
import { codeGraph, type Stage } from '@baton/task-graph';
import { waitAfterFailMs } from '../../executions/domain/wait-after-fail';
import { declaredWorkflow } from '../../executions/domain/workflow-check';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';

type PlanCodeDeps = Pick<Ports, 'deployments'>;

/**
 * `blueprintId`: blueprint of the deployment that the stage was planned on. An update of the deployment may have changed it since
 * the execution was requested.
 */
export type PlannedStage = Stage & { blueprintId?: string };

const ENGINE = { username: '', isAdministrator: true };

/**
 * Returns the next stage of a workflow that is code of a blueprint or plugin. The first stage is a graph with one task, the code: a
 * worker runs it, and it adds all other tasks. Then comes the end, with the outcome of the code. The graph stores which code is
 * run, so that an update of the deployment cannot change an execution under way.
 */
export async function codeStage(deps: PlanCodeDeps, execution: ExecutionRow): Promise<PlannedStage> {
  const [result] = execution.history;
  if (result?.kind === 'graph') {
    if (result.outcome.kind === 'succeeded') return { kind: 'end', outcome: 'succeeded' };
    return failed('WorkflowFailed', result.outcome.error);
  }
  if (execution.deployment_id === null) return noProgram(execution);
  const found = await workflowOf(deps, execution, execution.deployment_id);
  if (!found) return noProgram(execution);
  const { workflow, blueprintId } = found;
  const spec = codeGraph(
    {
      name: execution.workflow_id,
      mapping: String(workflow.operation),
      plugin: { name: String(workflow.plugin ?? ''), packageName: null, packageVersion: null },
      parameters: execution.parameters,
    },
    { waitAfterFailMs: waitAfterFailMs(execution), isDryRun: execution.is_dry_run },
  );
  return { kind: 'graph', name: spec.name, spec, blueprintId };
}

async function workflowOf(
  deps: PlanCodeDeps,
  execution: ExecutionRow,
  deploymentId: string,
): Promise<{ workflow: JsonObject; blueprintId: string } | null> {
  const facts = await nullIfNotFound(deps.deployments.facts(execution.tenant, deploymentId, ENGINE));
  const workflow = facts && declaredWorkflow(facts, execution.workflow_id);
  return workflow ? { workflow, blueprintId: facts.blueprintId } : null;
}

function failed(type: string, message: string): Stage {
  return { kind: 'end', outcome: 'failed', error: { type, message } };
}

function noProgram(execution: ExecutionRow): Stage {
  const where = execution.deployment_id === null ? '' : ` of deployment ${execution.deployment_id}`;
  return failed(
    'NonRecoverableError',
    `Nothing here carries out workflow ${execution.workflow_id}: it is neither built in nor a workflow${where}`,
  );
}

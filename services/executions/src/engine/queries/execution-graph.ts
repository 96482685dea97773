import type { AnyQuery } from '@baton/postgres';
import type { RawBuilder, SqlBool } from 'kysely';
import { isCarriedOutElsewhere, isEmptyWorkflow } from '../../executions/domain/system-workflows';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';
import { type PlanAheadDeps, planAhead } from '../steps/plan-ahead';
import { graphsOfExecution } from './graphs-of-execution';
import { listOperations, plannedOperations, type Shown } from './list-operations';

export type ExecutionGraphDeps = Pick<Ports, 'db'> & PlanAheadDeps;

/** A stage of a workflow: a graph, a change of the model, code, or work of another service. */
export interface ShownStage {
  name: string;
  kind: 'graph' | 'call' | 'code' | 'elsewhere';
  /** Which change of the model; null for the others. */
  call: string | null;
  state: 'planned' | 'running' | 'stopped' | 'succeeded' | 'failed';
  error: string | null;
}

/**
 * What an execution does: its stages so far with the graphs as stored; of one that has not begun all stages that would
 * follow each other if each succeeded, with their graphs, compiled from the model of now (`is_planned`; their operations
 * have no lasting ids). Of workflow code only its graph as it grows can be shown.
 * @throws AppError of the rpc when a plan is to be made and deployments does not answer.
 */
export async function executionGraph(
  deps: ExecutionGraphDeps,
  execution: ExecutionRow,
  scope: RawBuilder<SqlBool>,
  shown: Shown,
) {
  const isPlanned = execution.started_at === null && execution.graph_id === null && !hasStopped(execution);
  const { id: execution_id, status } = execution;
  if (isPlanned)
    return { execution_id, status, is_planned: true, ...(await plannedPart(deps, execution, shown)) };
  const graphs = await storedGraphs(deps.db.query, execution.id, scope, shown);
  return { execution_id, status, is_planned: false, error: null, stages: stagesOf(execution), graphs };
}

const hasStopped = ({ phase }: ExecutionRow): boolean => phase === 'ending' || phase === 'ended';

async function plannedPart(deps: ExecutionGraphDeps, execution: ExecutionRow, shown: Shown) {
  const whole = (kind: ShownStage['kind']) => ({
    error: null,
    stages: [plannedStage(execution.workflow_id, kind)],
    graphs: [],
  });
  if (isEmptyWorkflow(execution.workflow_id)) return { error: null, stages: [], graphs: [] };
  if (isCarriedOutElsewhere(execution)) return whole('elsewhere');
  if (execution.program === null) return whole('code');
  const plan = await planAhead(deps, execution, execution.program);
  const graphs = plan.stages.flatMap((stage) =>
    stage.kind === 'graph'
      ? [
          {
            id: null,
            name: stage.name,
            created_at: null,
            ended: null,
            operations: plannedOperations(stage.spec.tasks, execution, shown),
          },
        ]
      : [],
  );
  const stages = plan.stages.map((stage) =>
    plannedStage(stage.name, stage.kind, stage.kind === 'call' ? stage.request.call : null),
  );
  return { error: plan.error, stages, graphs };
}

function plannedStage(name: string, kind: ShownStage['kind'], call: string | null = null): ShownStage {
  return { name, kind, call, state: 'planned', error: null };
}

async function storedGraphs(db: AnyQuery, executionId: string, scope: RawBuilder<SqlBool>, shown: Shown) {
  const graphs = await graphsOfExecution(db, executionId);
  const operations = await listOperations(db, { executionId, states: [], skipInternal: false }, scope, shown);
  const ofGraph = new Map<string, typeof operations>(graphs.map((graph) => [graph.id, []]));
  for (const operation of operations) ofGraph.get(operation.tasks_graph_id)?.push(operation);
  return graphs.map(({ id, name, created_at, flags }) => ({
    id,
    name,
    created_at,
    ended: flags.ended,
    operations: ofGraph.get(id)!,
  }));
}

/** Stages that have ended, then the one in work or that was stopped in the middle. */
function stagesOf(execution: ExecutionRow): ShownStage[] {
  const isCode = execution.program === null;
  const stages = execution.history.map((result): ShownStage => {
    const failure =
      result.kind === 'graph'
        ? result.outcome.kind === 'failed'
          ? result.outcome.error
          : null
        : (result.error?.message ?? null);
    const kind = isCode ? 'code' : result.kind;
    return {
      name: result.name,
      kind,
      call: null,
      state: failure === null ? 'succeeded' : 'failed',
      error: failure,
    };
  });
  const { stage } = execution;
  if (stage && stages.every(({ name }) => name !== stage.name)) {
    const call = stage.kind === 'call' ? stage.request.call : null;
    const state = hasStopped(execution) ? 'stopped' : 'running';
    stages.push({ name: stage.name, kind: isCode ? 'code' : stage.kind, call, state, error: null });
  }
  if (stages.length === 0 && isCarriedOutElsewhere(execution)) {
    const state = hasStopped(execution)
      ? execution.status === 'terminated'
        ? 'succeeded'
        : 'failed'
      : 'running';
    stages.push({
      name: execution.workflow_id,
      kind: 'elsewhere',
      call: null,
      state,
      error: execution.error || null,
    });
  }
  return stages;
}

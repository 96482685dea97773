import { isCarriedOutElsewhere, isEmptyWorkflow } from '../../executions/domain/system-workflows';
import type { Ports } from '../../ports';
import { type ExecutionRow, RESTORE_VERSIONS } from '../../store/rows';
import { type PlanAheadDeps, planAhead } from '../steps/plan-ahead';
import {
  cutPage,
  type PageOfOperations,
  type PageWish,
  pageOfGraphs,
  type StoredGraphsDeps,
} from './graph-page';
import { plannedOperations, type Shown } from './list-operations';

export type ExecutionGraphDeps = Pick<Ports, 'db'> & PlanAheadDeps & StoredGraphsDeps;

/** Which operations are wanted. */
export interface GraphWish extends PageWish {
  /** Only operations that a step after this version of the execution has changed; null: all operations. */
  sinceVersion: number | null;
}

const WHOLE_GRAPH: GraphWish = { sinceVersion: null, offset: 0, size: null };

/** A stage of a workflow: a graph, a change of the model, code, or work of another service. */
export interface ShownStage {
  name: string;
  kind: 'graph' | 'call' | 'code' | 'elsewhere';
  /** The kind of change of the model; null for other stages. */
  call: string | null;
  state: 'planned' | 'running' | 'stopped' | 'succeeded' | 'failed';
  error: string | null;
}

/**
 * Returns the stages of an execution so far, with their stored graphs. For an execution that has not begun, returns all stages that
 * would follow each other if each succeeded, with their graphs, compiled from the present model (`is_planned`; their operations
 * have no lasting ids, and are always returned whole). Of workflow code, only its growing graph can be shown. `version` is the
 * version of the execution before its operations were read: a client that asks for changes since this version misses no change of
 * a later step.
 * @throws AppError of the rpc when a plan is to be made and deployments does not answer.
 */
export async function executionGraph(
  deps: ExecutionGraphDeps,
  execution: ExecutionRow,
  shown: Shown,
  wish: GraphWish = WHOLE_GRAPH,
) {
  const isPlanned = execution.started_at === null && execution.graph_id === null && !hasStopped(execution);
  const { id: execution_id, status, version } = execution;
  const head = { execution_id, status, version, is_planned: isPlanned };
  if (isPlanned) {
    const { error, stages, page } = await plannedPart(deps, execution, shown, wish);
    return { ...head, error, stages, is_whole: true, ...page };
  }
  const since = usableSince(version, wish.sinceVersion);
  const page = await pageOfGraphs(deps, execution, { ...wish, since }, shown);
  return { ...head, error: null, stages: stagesOf(execution), is_whole: since === null, ...page };
}

/**
 * Returns the version since which changes can be selected; null: all must be shown. A snapshot that was restored in between gives
 * the execution another history.
 */
function usableSince(version: number, since: number | null): number | null {
  if (since === null || since > version) return null;
  return Math.floor(since / RESTORE_VERSIONS) === Math.floor(version / RESTORE_VERSIONS) ? since : null;
}

const hasStopped = ({ phase }: ExecutionRow): boolean => phase === 'ending' || phase === 'ended';

interface PlannedPart {
  error: string | null;
  stages: ShownStage[];
  page: PageOfOperations;
}

async function plannedPart(
  deps: ExecutionGraphDeps,
  execution: ExecutionRow,
  shown: Shown,
  wish: PageWish,
): Promise<PlannedPart> {
  const nothing = (stages: ShownStage[]): PlannedPart => ({ error: null, stages, page: cutPage([], wish) });
  if (isEmptyWorkflow(execution.workflow_id)) return nothing([]);
  if (isCarriedOutElsewhere(execution)) return nothing([plannedStage(execution.workflow_id, 'elsewhere')]);
  if (execution.program === null) return nothing([plannedStage(execution.workflow_id, 'code')]);
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
  return { error: plan.error, stages, page: cutPage(graphs, wish) };
}

function plannedStage(name: string, kind: ShownStage['kind'], call: string | null = null): ShownStage {
  return { name, kind, call, state: 'planned', error: null };
}

/** Returns the stages that have ended, then the stage that is in work or was stopped in the middle. */
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

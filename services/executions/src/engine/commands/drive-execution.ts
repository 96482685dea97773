import { inPieces, newId, type Pieces, requireFormat } from '@baton/kernel';
import {
  endWithoutModel,
  graphFromSpecInPieces,
  nextStageInPieces,
  type Stage,
  type WorkflowInput,
} from '@baton/task-graph';
import { workflowEvent } from '../../events/domain/graph-events';
import { isCarriedOutElsewhere, isEmptyWorkflow } from '../../executions/domain/system-workflows';
import { readExecution, type TimedExecution } from '../../executions/store/executions.sql';
import { type ExecutionRow, HISTORY_FORMAT } from '../../store/rows';
import { forcedLeftMs } from '../domain/cancel';
import type { EnginePorts } from '../ports';
import { decideInPieces } from '../steps/advance-graph';
import { newLoadedGraph } from '../steps/graph-memory';
import { afterStep, endGraph } from '../steps/run-step';
import { endingChanges, inputOfWorkflow, stageLog } from '../steps/stage-end';
import { isUnstorable } from '../steps/step-writer';
import type { Uncommitted } from '../steps/uncommitted';
import { emptyWrite, type StepWrite } from '../store/step-write';
import { packTasks, taskIdOf } from '../store/task-document';
import { cancelComponents } from './act-on-components';
import { type CarryOutCallDeps, carryOutCall } from './carry-out-call';
import { cascadeMember } from './cascade-member';
import { deliverAll } from './deliver-states';
import { endExecution } from './end-execution';
import { codeStage, type PlannedStage } from './plan-code';

export type DriveExecutionDeps = Pick<
  EnginePorts,
  | 'accepted'
  | 'agents'
  | 'db'
  | 'deployments'
  | 'log'
  | 'memory'
  | 'steps'
  | 'turns'
  | 'wake'
  | 'workflowConfig'
> &
  CarryOutCallDeps;

/** Limit of the phases that one drive may pass; more means a workflow that never waits for workers and never ends. */
const MAX_TURNS = 50;

/**
 * Brings an execution to the point where it waits for workers or has ended: plans the next stage, carries out calls,
 * delivers the last effects. Any replica may drive at any time: a turn's decision is written only if the row still is as the turn
 * found it, and calls are idempotent by their name. After a crash, engine/loops/engine.loops.ts drives again.
 * @throws AppError when a later release has written the row: a replica of that release drives it.
 */
export async function driveExecution(deps: DriveExecutionDeps, executionId: string): Promise<void> {
  let known: TimedExecution | null = leftInMemory(deps, executionId);
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const execution: TimedExecution | null = known ?? (await readExecution(deps.db.query, executionId));
    known = null;
    if (execution) requireFormat(HISTORY_FORMAT, execution.format, `execution ${executionId}`);
    switch (execution?.phase) {
      case 'planning':
        known = await planStage(deps, execution);
        break;
      case 'calling':
        if (!(await carryOutCall(deps, execution))) return;
        break;
      case 'running':
        // A plain cancel in its grace: its components are cancelled now, and once more when the execution ends.
        if (execution.cancel_deadline !== null) await cancelComponents(deps, execution, 'cancel');
        return;
      case 'ending':
        known = await endExecution(deps, execution);
        break;
      default:
        return;
    }
  }
  deps.log.error({ executionId }, 'an execution went through too many stages in a row');
}

/**
 * Returns the row as this process accepted it, or as the last step of a graph left it, when its phase needs a drive; the write
 * shows whether the row still is so. Null for a forced cancel, whose end has a time limit: the row in memory has the time of that
 * earlier step.
 */
function leftInMemory(deps: DriveExecutionDeps, executionId: string): TimedExecution | null {
  const accepted = deps.accepted.take(executionId);
  if (accepted) return accepted;
  const loaded = deps.memory.known(executionId);
  if (!loaded || loaded.execution.version !== loaded.version) return null;
  if (forcedLeftMs(loaded.execution, loaded.execution.now_ms) !== null) return null;
  return ['planning', 'ending'].includes(loaded.execution.phase) ? { ...loaded.execution } : null;
}

/**
 * Decides the next stage from history and a fresh model, and begins it. A stage that is too large to be stored ends the execution.
 * Returns null when the row has moved on.
 */
async function planStage(
  deps: DriveExecutionDeps,
  execution: TimedExecution,
): Promise<TimedExecution | null> {
  const stage = await plannedFor(deps, execution);
  try {
    return await begin(deps, execution, stage);
  } catch (err) {
    if (!isUnstorable(err)) throw err;
    deps.log.error({ err, executionId: execution.id }, 'the stage of a workflow cannot be stored');
    return await begin(deps, execution, unplannable(`its graph cannot be stored: ${(err as Error).message}`));
  }
}

async function begin(
  deps: DriveExecutionDeps,
  execution: TimedExecution,
  stage: Planned,
): Promise<TimedExecution | null> {
  return await deps.turns.take(execution.id, async () => {
    const begun = await beginStage(deps, execution, stage);
    const row = await deps.steps.write(begun.write);
    if (!row) {
      deps.memory.forget(execution.id);
      return null;
    }
    if (!begun.graph) {
      const { last_event_seq, version, now_ms } = row;
      const after = { ...execution, ...begun.write.changes, last_event_seq, version, now_ms };
      // The previous graph in memory still fits the row: its states are known.
      deps.memory.moved(execution, after);
      deps.wake.events(after.id);
      return after;
    }
    begun.graph.commit(row);
    const { context, step } = begun.graph;
    // Without the outcome, so that no wake-up is sent: the driver goes on by itself when nothing in the graph needed a worker.
    afterStep(deps, context, { ...step, outcome: null });
    return context.execution;
  });
}

/** The next stage, or a case that needs no stage. */
type Planned = PlannedStage | { kind: 'cancelled' } | { kind: 'elsewhere' };

async function plannedFor(deps: DriveExecutionDeps, execution: ExecutionRow): Promise<Planned> {
  if (execution.status.endsWith('cancelling')) return { kind: 'cancelled' };
  if (isCarriedOutElsewhere(execution)) return { kind: 'elsewhere' };
  return await decideStage(deps, execution);
}

async function decideStage(deps: DriveExecutionDeps, execution: ExecutionRow): Promise<PlannedStage> {
  if (isEmptyWorkflow(execution.workflow_id)) return { kind: 'end', outcome: 'succeeded' };
  // Also after a resume of an execution that could not begin: executions that were started with it before are found.
  const isFirst = execution.history.length === 0 && execution.graph_id === null;
  if (execution.is_cascading && execution.status === 'pending' && isFirst) {
    const message = await cascadeMember(deps, execution);
    if (message !== null) return { kind: 'end', outcome: 'failed', error: { type: 'RuntimeError', message } };
  }
  if (execution.program === null) return await codeStage(deps, execution);
  const input = inputOfWorkflow(deps, execution);
  const end = endWithoutModel(execution.program, input, execution.history);
  if (end) return end;
  try {
    // The model must show the effects of the earlier stages.
    await deliverAll(deps, execution);
    const { blueprintId, model } = execution.deployment_id
      ? await deps.deployments.model(execution.tenant, execution.deployment_id)
      : { blueprintId: execution.blueprint_id ?? '', model: { nodes: [], nodeInstances: [] } };
    return { ...(await planned(deps, execution, { ...input, blueprintId, model })), blueprintId };
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code !== 'not_found_error') throw error;
    // The deployment vanished: a visible end, never a silent one.
    return { kind: 'end', outcome: 'failed', error: { type: 'NotFound', message: (error as Error).message } };
  }
}

/** Plans the next stage. A stage that cannot be planned now never can: it ends the execution instead of being tried for ever. */
async function planned(
  deps: DriveExecutionDeps,
  execution: ExecutionRow,
  input: WorkflowInput,
): Promise<Stage> {
  try {
    return await inPieces(nextStageInPieces(execution.program!, input, execution.history));
  } catch (err) {
    deps.log.error({ err, executionId: execution.id }, 'a workflow cannot be planned');
    return unplannable((err as Error).message);
  }
}

function unplannable(reason: string): Stage {
  const message = `The workflow cannot be planned: ${reason}`;
  return { kind: 'end', outcome: 'failed', error: { type: 'RuntimeError', message } };
}

interface Begun {
  write: StepWrite;
  /** The first step of the stage's graph; null: the stage has no graph. */
  graph: Uncommitted | null;
}

/**
 * Returns the step that begins the stage: pending -> started with its event, once; the stage's log lines; its graph or call, or
 * the end.
 */
async function beginStage(
  deps: DriveExecutionDeps,
  execution: TimedExecution,
  stage: Planned,
): Promise<Begun> {
  const write: StepWrite = { ...emptyWrite(execution), status: execution.status };
  if (stage.kind === 'cancelled') {
    write.changes = { phase: 'ending', outcome: { status: 'cancelled', error: '' } };
    return { write, graph: null };
  }
  if (execution.status === 'pending') {
    write.changes.status = 'started';
    write.isStart = true;
    write.events.push(workflowEvent(execution, 'workflow_started'));
  }
  if (stage.kind === 'elsewhere') {
    write.changes.phase = 'running';
    return { write, graph: null };
  }
  if (stage.blueprintId && stage.blueprintId !== execution.blueprint_id)
    write.changes.blueprint_id = stage.blueprintId;
  write.events.push(...stageLog(execution, stage));
  if (stage.kind === 'graph') return await beginGraph(deps, execution, stage, write);
  if (stage.kind === 'call') {
    const { kind, name, memo, request } = stage;
    Object.assign(write.changes, { phase: 'calling', stage: { kind, name, memo, request } });
  } else {
    Object.assign(write.changes, endingChanges(stage));
  }
  return { write, graph: null };
}

type GraphStage = Extract<Stage, { kind: 'graph' }>;

/** Begins the graph of a stage, in pieces that other work may run between. Memory shows the graph only when it is written. */
async function beginGraph(
  deps: DriveExecutionDeps,
  execution: TimedExecution,
  stage: GraphStage,
  begin: StepWrite,
): Promise<Begun> {
  const decided = await inPieces(firstStep(deps, execution, stage, begin));
  const { loaded } = decided.context;
  const id = loaded.graphId;
  const write: StepWrite = {
    ...decided.write,
    phase: begin.phase,
    status: begin.status,
    isStart: begin.isStart,
    newGraph: {
      id,
      name: stage.name,
      wait_after_fail_ms: stage.spec.waitAfterFailMs,
      is_dry_run: stage.spec.dryRun,
      flags: loaded.graph.flags,
      tasks: loaded.graph.hasCode ? null : await packTasks(stage.spec.tasks),
    },
    // The graph is inserted with its flags.
    flags: null,
    events: [...begin.events, ...decided.write.events],
    changes: {
      ...begin.changes,
      ...decided.write.changes,
      phase: 'running',
      graph_id: id,
      stage: { kind: 'graph', name: stage.name, memo: stage.memo },
    },
  };
  decided.write = write;
  if (decided.step.outcome) endGraph(deps, decided, decided.step.outcome);
  return { write, graph: decided };
}

/** Builds the graph of a stage and starts it in memory. */
function* firstStep(
  deps: Pick<EnginePorts, 'agents' | 'memory'>,
  execution: TimedExecution,
  { spec }: GraphStage,
  begin: StepWrite,
): Pieces<Uncommitted> {
  const graph = yield* graphFromSpecInPieces(spec);
  const id = newId(execution.now_ms);
  const { blueprint_id = execution.blueprint_id } = begin.changes;
  const running: TimedExecution = { ...execution, phase: 'running', graph_id: id, blueprint_id };
  // Tasks that code adds come as rows, so all tasks of its graph do.
  const tasks = graph.hasCode ? [] : spec.tasks;
  const ids = tasks.map(({ idx }) => taskIdOf(id, idx));
  yield;
  const loaded = newLoadedGraph(running, id, graph, ids, new Set(ids.keys()));
  yield;
  return yield* decideInPieces(deps, { execution: running, loaded }, [{ kind: 'start' }]);
}

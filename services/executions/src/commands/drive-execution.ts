import { newId } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import { graphFromSpec, nextStage, type Stage, type StageResult } from '@baton/task-graph';
import { isCarriedOutElsewhere, isEmptyWorkflow } from '../domain/system-workflows';
import { stepGraph } from '../engine/advance-graph';
import type { EngineDeps } from '../engine/deps';
import { workflowEvent, workflowLog } from '../engine/graph-events';
import { newLoadedGraph } from '../engine/graph-memory';
import { afterStep, announce, type StepContext } from '../engine/run-step';
import { appendEvents } from '../store/events.sql';
import {
  type LockedExecution,
  lockExecution,
  NOW,
  readExecution,
  updateExecution,
} from '../store/executions.sql';
import type { ExecutionRow } from '../store/rows';
import type { DB } from '../store/tables.gen';
import { insertGraph } from '../store/tasks.sql';
import { carryOutCall } from './carry-out-call';
import { deliverStates } from './deliver-states';
import { endExecution } from './end-execution';

/** Phases that one drive may pass; more means a workflow that never comes to work. */
const MAX_TURNS = 50;

/**
 * Brings an execution to the point where it waits for workers or has ended: plans the next stage, carries out calls,
 * delivers the last effects. Any replica may drive at any time: each turn re-checks the phase under the row lock, and
 * calls are idempotent by their name. After a crash loops/engine.loops.ts drives again.
 */
export async function driveExecution(deps: EngineDeps, executionId: string): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const execution = await readExecution(deps.db.query, executionId);
    if (!execution) return;
    switch (execution.phase) {
      case 'planning':
        if (!(await planStage(deps, execution))) return;
        break;
      case 'calling':
        if (!(await carryOutCall(deps, execution))) return;
        break;
      case 'ending':
        await endExecution(deps, execution);
        return;
      default:
        return;
    }
  }
  deps.log.error({ executionId }, 'an execution went through too many stages in a row');
}

/** Decides the next stage from history and a fresh model, and begins it. False = somebody else did. */
async function planStage(deps: EngineDeps, execution: ExecutionRow): Promise<boolean> {
  const isElsewhere = isCarriedOutElsewhere(execution);
  const stage = isElsewhere ? null : await decideStage(deps, execution);
  return await deps.memory.serially(execution.id, async () => {
    const context = await deps.db.tx(async (tx) => {
      const locked = await lockExecution(tx, execution.id);
      if (!locked || locked.phase !== 'planning' || locked.history.length !== execution.history.length)
        return null;
      if (isCancelling(locked)) {
        await updateExecution(tx, locked.id, {
          phase: 'ending',
          outcome: { status: 'cancelled', error: '' },
        });
        return { execution: locked, begun: null };
      }
      await begin(tx, locked);
      if (stage === null) {
        await updateExecution(tx, locked.id, { phase: 'running' });
        return { execution: locked, begun: null };
      }
      return { execution: locked, begun: await beginStage(tx, locked, stage) };
    });
    if (!context) return false;
    if (context.begun) afterStep(deps, context.begun.context, context.begun.step);
    else deps.wake.events(execution.id, execution.deployment_id, context.execution.last_event_seq);
    return context.begun === null || context.begun.step.outcome !== null;
  });
}

function isCancelling(execution: ExecutionRow): boolean {
  return execution.status.endsWith('cancelling');
}

async function decideStage(deps: EngineDeps, execution: ExecutionRow): Promise<Stage> {
  if (isEmptyWorkflow(execution.workflow_id)) return { kind: 'end', outcome: 'succeeded' };
  if (execution.program === null) return noProgram(execution);
  try {
    // The model must show what the stages before did.
    await deliverStates(deps, execution.id);
    const { blueprintId, model } = execution.deployment_id
      ? await deps.deployments.model(execution.tenant, execution.deployment_id)
      : { blueprintId: execution.blueprint_id ?? '', model: { nodes: [], nodeInstances: [] } };
    return nextStage(
      execution.program,
      {
        workflowId: execution.workflow_id,
        executionId: execution.id,
        deploymentId: execution.deployment_id ?? '',
        blueprintId,
        parameters: execution.parameters,
        model,
        config: { ...deps.workflowConfig, waitAfterFailMs: execution.wait_after_fail_s * 1000 },
        resume: execution.is_resumed,
        dryRun: execution.is_dry_run,
      },
      execution.history,
    );
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code !== 'not_found_error') throw error;
    // The deployment vanished: a visible end, never a silent one.
    return { kind: 'end', outcome: 'failed', error: { type: 'NotFound', message: (error as Error).message } };
  }
}

/** Workflows of plugins and scripts are code that a worker must run. */
function noProgram(execution: ExecutionRow): Stage {
  const message = `Workflow ${execution.workflow_id} is not one of the built-in programs, and no worker runs workflow code`;
  return { kind: 'end', outcome: 'failed', error: { type: 'NonRecoverableError', message } };
}

/** pending -> started with its event, once; a resumed one gets a new start time. */
async function begin(tx: Tx<DB>, execution: LockedExecution): Promise<void> {
  if (execution.status !== 'pending') return;
  const seq = await appendEvents(tx, execution, [workflowEvent(execution, 'workflow_started')]);
  await updateExecution(tx, execution.id, { status: 'started', started_at: NOW, last_event_seq: seq });
  execution.status = 'started';
  execution.last_event_seq = seq;
}

async function beginStage(
  tx: Tx<DB>,
  execution: LockedExecution,
  stage: Stage,
): Promise<{ context: StepContext; step: Awaited<ReturnType<typeof stepGraph>> } | null> {
  const logs = (stage.log ?? []).map((line) => workflowLog(execution, line.level, line.message));
  execution.last_event_seq = await appendEvents(tx, execution, logs);
  await updateExecution(tx, execution.id, { last_event_seq: execution.last_event_seq });
  if (stage.kind === 'end') {
    const outcome =
      stage.outcome === 'succeeded'
        ? { status: 'terminated' as const, error: '' }
        : { status: 'failed' as const, error: stage.error.message };
    await updateExecution(tx, execution.id, { phase: 'ending', outcome });
    return null;
  }
  if (stage.kind === 'call') {
    const { kind, name, memo, request } = stage;
    await updateExecution(tx, execution.id, { phase: 'calling', stage: { kind, name, memo, request } });
    return null;
  }
  return await beginGraph(tx, execution, stage);
}

async function beginGraph(tx: Tx<DB>, execution: LockedExecution, stage: Extract<Stage, { kind: 'graph' }>) {
  const graph = graphFromSpec(stage.spec);
  const loaded = newLoadedGraph(execution, newId(execution.now_ms), graph, []);
  await insertGraph(tx, {
    id: loaded.graphId,
    execution_id: execution.id,
    name: stage.name,
    wait_after_fail_ms: stage.spec.waitAfterFailMs,
    is_dry_run: stage.spec.dryRun,
    flags: graph.flags,
  });
  execution.phase = 'running';
  execution.graph_id = loaded.graphId;
  execution.stage = { kind: 'graph', name: stage.name, memo: stage.memo };
  await updateExecution(tx, execution.id, {
    phase: 'running',
    graph_id: loaded.graphId,
    stage: execution.stage,
  });
  const context = { execution, loaded };
  const step = await stepGraph(tx, execution, loaded, [{ kind: 'start' }], null, true);
  await announce(tx, context, step.ready);
  if (step.outcome && step.outcome.kind !== 'cancelled') {
    // Nothing in it needed a worker.
    const result: StageResult = { kind: 'graph', name: stage.name, outcome: step.outcome, memo: stage.memo };
    await updateExecution(tx, execution.id, {
      phase: 'planning',
      wake_at: null,
      earlier_total: execution.earlier_total + graph.total,
      earlier_finished: execution.earlier_finished + graph.finished,
      history: [...execution.history, result],
    });
  }
  return { context, step };
}

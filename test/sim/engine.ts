import {
  advance,
  type Decision,
  type ExecutionEvent,
  type ExecutionStatus,
  executionMachine,
  freshFlags,
  type GraphState,
  graphFromRows,
  type Happening,
  nextStage,
  resumeGraph,
  type Stage,
  type StageResult,
  undoDecision,
} from '@baton/task-graph';
import { answerCall, applyEdits } from './deployments';
import type { ExecutionRow, RunId, Store, Tx } from './store';
import type { Process, Work, World } from './world';

/**
 * A model of the engine with the structure of `services/executions`: one transaction per command, the graph cached by version, an
 * outbox for messages. Every command may crash at any await. Its commit may be refused, or its answer lost.
 */
export interface Engine {
  world: World;
  store: Store;
  /** Memory of each process; lost when the process dies. */
  memory: Map<Process, Map<string, { version: number; graph: GraphState }>>;
  checkMemory: (row: ExecutionRow, graph: GraphState) => void;
}

export const LEASE_MS = 300;

/** A command in progress: its transaction and its graph. */
interface Hand {
  engine: Engine;
  process: Process;
  tx: Tx;
  row: ExecutionRow;
  graph: GraphState | null;
  decisions: { graph: GraphState; decision: Decision }[];
}

function* open(engine: Engine, process: Process, id: string): Work<Hand | null> {
  const tx = yield* engine.store.begin(process, id);
  if (!tx.row) {
    tx.rollback();
    return null;
  }
  return { engine, process, tx, row: tx.row, graph: loadGraph(engine, process, tx.row), decisions: [] };
}

function loadGraph(engine: Engine, process: Process, row: ExecutionRow): GraphState | null {
  if (!row.head || !row.flags) return null;
  const cached = engine.memory.get(process)?.get(row.id);
  if (cached?.version === row.version) return cached.graph;
  return graphFromRows(row.head, row.rows, row.flags);
}

function* close(hand: Hand): Work<boolean> {
  const { engine, process, row, graph } = hand;
  const memory = engine.memory.get(process)!;
  const answer = yield* hand.tx.commit();
  if (answer === 'committed' && graph) {
    memory.set(row.id, { version: row.version, graph });
    engine.checkMemory(row, graph);
  } else if (
    answer === 'refused' &&
    hand.decisions.length === 1 &&
    memory.get(row.id)?.graph === hand.decisions[0]!.graph
  ) {
    undoDecision(hand.decisions[0]!.graph, hand.decisions[0]!.decision);
  } else memory.delete(row.id);
  return answer === 'committed';
}

/** Starts a pending execution: its first stage, and all following steps that need no waiting. */
export function* beginExecution(engine: Engine, process: Process, id: string): Work {
  const hand = yield* open(engine, process, id);
  if (!hand) return;
  if (hand.row.status !== 'pending') return hand.tx.rollback();
  setStatus(hand.row, 'begin');
  addEvent(hand.row, 'workflow_started', null, null);
  if (hand.row.isResumed && hand.row.head) resume(hand);
  yield* goOn(hand);
  yield* close(hand);
}

function resume(hand: Hand): void {
  const { row } = hand;
  const cleanup = row.workflow === 'install' ? { model: row.model, config: configOf() } : undefined;
  const options = { force: true, now: hand.engine.world.now, cleanup };
  const { graph, decision } = resumeGraph(row.head!, row.rows, options);
  hand.graph = graph;
  row.leases.clear();
  apply(hand, decision);
}

/** Requests stages until one must be waited for. */
function* goOn(hand: Hand): Work {
  const { row } = hand;
  while (row.stage === null && !executionMachine.isTerminal(row.status as ExecutionStatus)) {
    yield 0;
    const stage = nextStage(row.workflow, inputOf(row), row.history);
    if (stage.kind === 'end') endWith(row, stage);
    else if (stage.kind === 'call') {
      const response = answerCall(row, stage.request);
      row.history.push({ kind: 'call', name: stage.name, response, memo: stage.memo });
    } else {
      row.stage = { kind: 'graph', name: stage.name, spec: { ...stage.spec, tasks: [] }, memo: stage.memo };
      const { name, waitAfterFailMs, dryRun, tasks } = stage.spec;
      row.head = { name, waitAfterFailMs, dryRun };
      row.flags = freshFlags();
      row.rows = tasks.map((spec) => ({
        ...spec,
        state: 'pending',
        attempt: 0,
        losses: 0,
        retries: 0,
        notBefore: null,
        deferral: null,
        error: null,
        result: null,
      }));
      hand.graph = graphFromRows(row.head, row.rows, row.flags);
      step(hand, [{ kind: 'start' }]);
    }
  }
}

function endWith(row: ExecutionRow, stage: Extract<Stage, { kind: 'end' }>): void {
  row.error = stage.outcome === 'failed' ? stage.error.message : '';
  setStatus(row, stage.outcome === 'failed' ? 'fail' : 'finish');
  addEvent(row, stage.outcome === 'failed' ? 'workflow_failed' : 'workflow_succeeded', null, null);
}

/** Advances the graph by one step and writes it into the transaction's copy. */
function step(hand: Hand, happenings: Happening[]): Decision {
  const graph = hand.graph!;
  const decision = advance(graph, happenings, hand.engine.world.now);
  hand.decisions.push({ graph, decision });
  apply(hand, decision);
  return decision;
}

function apply(hand: Hand, decision: Decision): void {
  const { row, tx, engine } = hand;
  for (const { deps, ...change } of decision.changes) {
    row.rows[change.idx] = { ...row.rows[change.idx]!, ...change, ...(deps && { deps }) };
  }
  for (const added of decision.added) row.rows[added.idx] = added;
  row.flags = decision.flags;
  for (const { nodeInstanceId, state } of decision.instanceStates) {
    row.model.nodeInstances.find((i) => i.id === nodeInstanceId)!.state = state;
  }
  for (const { nodeInstanceId, edits } of decision.systemProperties)
    applyEdits(row.model, nodeInstanceId, edits);
  for (const event of decision.events) addEvent(row, event.type, event.idx, row.rows[event.idx]!.attempt);
  for (const idx of decision.dispatch) {
    row.sentAt.set(idx, engine.world.now);
    const run = { execution: row.id, graph: row.head!.name, idx, attempt: row.rows[idx]!.attempt };
    tx.outbox.push({ kind: 'ready', run });
  }
  if (decision.outcome) finishStage(row, decision.outcome);
}

function finishStage(row: ExecutionRow, outcome: NonNullable<Decision['outcome']>): void {
  if (outcome.kind === 'cancelled') {
    setStatus(row, 'cancelled');
    addEvent(row, 'workflow_cancelled', null, null);
    return;
  }
  const { name, memo } = row.stage!;
  row.history.push({ kind: 'graph', name, outcome, memo } as StageResult);
  row.stage = null;
}

/** A worker claims a run. Repeated claims of the same worker get the same answer. */
export function* claim(
  engine: Engine,
  process: Process,
  run: RunId,
  worker: string,
): Work<'granted' | 'gone'> {
  const hand = yield* open(engine, process, run.execution);
  if (!hand) return 'gone';
  const { row } = hand;
  const { idx, attempt } = run;
  if (isLeased(row, run, worker)) {
    hand.tx.rollback();
    return 'granted';
  }
  const task = row.rows[idx];
  const isOpen = row.status === 'started' && row.stage?.name === run.graph;
  if (!isOpen || task?.state !== 'sent' || task.attempt !== attempt) {
    hand.tx.rollback();
    return 'gone';
  }
  // Any step may end the graph: here, when the time after a failure is over. Then nothing begins.
  if (step(hand, []).outcome) {
    yield* goOn(hand);
    yield* close(hand);
    return 'gone';
  }
  row.leases.set(idx, { worker, attempt, expiresAt: engine.world.now + LEASE_MS });
  step(hand, [{ kind: 'started', idx, attempt }]);
  return (yield* close(hand)) ? 'granted' : 'gone';
}

function isLeased(row: ExecutionRow, run: RunId, worker: string): boolean {
  const lease = row.head?.name === run.graph ? row.leases.get(run.idx) : undefined;
  return lease?.worker === worker && lease.attempt === run.attempt;
}

/** Renews a lease; returns false when the worker does not hold it any more. */
export function* renew(engine: Engine, process: Process, run: RunId, worker: string): Work<boolean> {
  const hand = yield* open(engine, process, run.execution);
  const lease = hand?.row.leases.get(run.idx);
  if (!hand || !lease || !isLeased(hand.row, run, worker) || lease.expiresAt <= engine.world.now) {
    hand?.tx.rollback();
    return false;
  }
  hand.row.leases.set(run.idx, { ...lease, expiresAt: engine.world.now + LEASE_MS });
  return yield* close(hand);
}

/** Applies reports of workers, timers and lost leases; the stage may end. */
export function* report(
  engine: Engine,
  process: Process,
  of: { execution: string; graph: string },
  happenings: Happening[],
): Work<boolean> {
  const hand = yield* open(engine, process, of.execution);
  if (hand?.graph?.name !== of.graph) {
    hand?.tx.rollback();
    return true;
  }
  const wasOpen = hand.row.stage !== null;
  for (const h of happenings)
    if ('attempt' in h && hand.row.leases.get(h.idx)?.attempt === h.attempt) hand.row.leases.delete(h.idx);
  const decision = step(hand, happenings);
  if (decision.refused.length === happenings.length) {
    undoDecision(hand.graph, decision);
    hand.tx.rollback();
    return true;
  }
  if (wasOpen && hand.row.status === 'started') yield* goOn(hand);
  return yield* close(hand);
}

export function* cancel(
  engine: Engine,
  process: Process,
  id: string,
  mode: 'cancel' | 'force-cancel' | 'kill',
): Work {
  const hand = yield* open(engine, process, id);
  if (!hand) return;
  const next = executionMachine.next(hand.row.status as ExecutionStatus, mode);
  if (!next) return hand.tx.rollback();
  const isRunning = hand.row.status === 'started' && hand.row.stage !== null;
  setStatus(hand.row, mode);
  if (isRunning) step(hand, [{ kind: 'cancel', mode }]);
  else {
    if (!executionMachine.isTerminal(hand.row.status as ExecutionStatus)) setStatus(hand.row, 'cancelled');
    addEvent(hand.row, 'workflow_cancelled', null, null);
  }
  yield* close(hand);
}

/** Handles a resume request of the REST API: sets the status back to pending; `beginExecution` then continues the failed stage. */
export function* requestResume(engine: Engine, process: Process, id: string): Work {
  const hand = yield* open(engine, process, id);
  if (!hand) return;
  const { row, tx } = hand;
  if (row.status !== 'failed' && row.status !== 'cancelled') return tx.rollback();
  const last = row.history.at(-1);
  if (row.status === 'failed' && last?.kind === 'graph' && last.outcome.kind === 'failed') {
    row.history.pop();
    row.stage = { kind: 'graph', name: last.name, spec: { ...row.head!, tasks: [] }, memo: last.memo };
  } else if (row.stage === null) {
    row.head = null;
    row.flags = null;
  }
  row.isResumed = true;
  row.status = 'pending';
  addEvent(row, 'resume_requested', null, null);
  tx.outbox.push({ kind: 'begin', execution: id });
  yield* close(hand);
}

function setStatus(row: ExecutionRow, event: ExecutionEvent): void {
  const next = executionMachine.next(row.status as ExecutionStatus, event);
  if (!next) throw new Error(`execution ${row.id}: ${event} in ${row.status}`);
  row.status = next;
}

function addEvent(row: ExecutionRow, type: string, idx: number | null, attempt: number | null): void {
  row.events.push({ seq: row.events.length + 1, type, idx, attempt });
}

function configOf() {
  return {
    tenant: 'simulation',
    taskRetries: 2,
    taskRetryIntervalMs: 40,
    subgraphRetries: 1,
    waitAfterFailMs: 500,
  };
}

function inputOf(row: ExecutionRow): Parameters<typeof nextStage>[1] {
  return {
    workflowId: row.workflow,
    executionId: row.id,
    deploymentId: 'deployment',
    blueprintId: 'blueprint',
    parameters: row.parameters as never,
    model: row.model,
    config: configOf(),
    resume: row.isResumed,
    dryRun: false,
  };
}

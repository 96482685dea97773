import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import {
  advance,
  type CallRequest,
  type Decision,
  type GraphEvent,
  type GraphOutcome,
  type GraphSpec,
  type GraphState,
  graphFromSpec,
  type Happening,
  isResumable,
  nextStage,
  type OperationPayload,
  resumeGraph,
  rowOf,
  type StageResult,
  type TaskRow,
  type WorkflowConfig,
} from '@baton/task-graph';
import { applyEdits } from '../deployments';
import { type Deployment, startModification } from './deployment';
import { performUpdate, prepareUpdate } from './update';

/** Runs one workflow on a deployment in memory, with a virtual clock on which every operation takes the same time. */

export interface Call {
  label: string;
  from: number;
  to: number;
  isFailed: boolean;
}

export interface Played {
  outcome: 'completed' | 'failed' | 'cancelled';
  error: { type: string; message: string } | null;
  calls: Call[];
  events: GraphEvent[];
}

export interface Request {
  workflow: string;
  parameters: JsonObject;
  config: WorkflowConfig;
  /** Only for an update: the new blueprint, if it changes. */
  update?: { text?: string; inputs: JsonObject };
  isDryRun?: boolean;
  /** Cancels once the operation `at` has begun for the `nth` time (default 1). */
  cancel?: { at: string; nth?: number };
}

/** An ended execution, as the starting point of a resume. */
export interface Ended {
  played: Played;
  request: Request;
  history: StageResult[];
  /** The graph that failed or was cancelled. */
  stopped: {
    spec: Pick<GraphSpec, 'name' | 'waitAfterFailMs' | 'dryRun'>;
    rows: TaskRow[];
    memo?: Json;
  } | null;
}

/** Number of runs of each probe so far; kept across the steps of a scenario. */
export type ProbeCounts = Map<string, number>;

const OPERATION_MS = 10;

interface Game {
  deployment: Deployment;
  counts: ProbeCounts;
  request: Request;
  played: Played;
  now: number;
  isResumed: boolean;
}

const fresh = (): Played => ({ outcome: 'completed', error: null, calls: [], events: [] });

export async function play(deployment: Deployment, counts: ProbeCounts, request: Request): Promise<Ended> {
  return await playStages({ deployment, counts, request, played: fresh(), now: 0, isResumed: false }, []);
}

/** Resumes a failed or cancelled execution, as services/executions does. */
export async function resume(
  deployment: Deployment,
  counts: ProbeCounts,
  last: Ended,
  how: { isForced: boolean; cancel: Request['cancel'] },
): Promise<Ended> {
  const request = { ...last.request, cancel: how.cancel };
  const game: Game = { deployment, counts, request, played: fresh(), now: 0, isResumed: true };
  const ended = last.history.at(-1);
  const isFailed = ended && (ended.kind === 'graph' ? ended.outcome.kind === 'failed' : ended.error);
  const history = isFailed ? last.history.slice(0, -1) : [...last.history];
  const { stopped } = last;
  const isGoingOn = stopped !== null && history.every(({ name }) => name !== stopped.spec.name);
  if (isGoingOn && isResumable(request.workflow)) {
    const { model } = deployment;
    const cleanup = { model, config: request.config };
    const isInstall = request.workflow === 'install' && stopped.spec.name === 'install';
    const { graph, decision } = resumeGraph(stopped.spec, stopped.rows, {
      force: how.isForced,
      now: game.now,
      ...(isInstall && { cleanup }),
    });
    const again = runGraph(game, graph, decision);
    if (again.outcome.kind === 'cancelled')
      return cancelled(game, history, stopped.spec, again.rows, stopped.memo);
    history.push({ kind: 'graph', name: stopped.spec.name, outcome: again.outcome, memo: stopped.memo });
    return await playStages(game, history, { ...stopped, rows: again.rows });
  }
  return await playStages(game, history);
}

function cancelled(
  game: Game,
  history: StageResult[],
  spec: NonNullable<Ended['stopped']>['spec'],
  rows: TaskRow[],
  memo: Json | undefined,
): Ended {
  game.played.outcome = 'cancelled';
  const { played, request } = game;
  return { played, request, history, stopped: { spec, rows, ...(memo !== undefined && { memo }) } };
}

async function playStages(game: Game, history: StageResult[], last: Ended['stopped'] = null): Promise<Ended> {
  const { played, request } = game;
  let stopped = last;
  for (;;) {
    const stage = nextStage(request.workflow, inputOf(game), history);
    if (stage.kind === 'end') {
      if (stage.outcome === 'failed') Object.assign(played, { outcome: 'failed', error: stage.error });
      return { played, request, history, stopped };
    }
    if (stage.kind === 'graph') {
      const graph = graphFromSpec(stage.spec);
      const { outcome, rows } = runGraph(game, graph, advance(graph, [{ kind: 'start' }], game.now));
      if (outcome.kind === 'cancelled') return cancelled(game, history, stage.spec, rows, stage.memo);
      stopped = { spec: stage.spec, rows, ...(stage.memo !== undefined && { memo: stage.memo }) };
      history.push({ kind: 'graph', name: stage.name, outcome, memo: stage.memo });
    } else {
      const response = await answer(game, stage.request);
      history.push({ kind: 'call', name: stage.name, response, memo: stage.memo });
    }
  }
}

async function answer(game: Game, request: CallRequest): Promise<Json> {
  const { deployment } = game;
  switch (request.call) {
    case 'modification-start':
      return startModification(deployment, request.entities);
    case 'update-prepare':
      return await prepareUpdate(deployment, game.request.update?.text, game.request.update?.inputs ?? {});
    case 'update-perform':
      return await performUpdate(deployment, game.request.update?.text, game.request.update?.inputs ?? {});
    case 'modification-finish':
    case 'update-finish':
      deployment.pending?.finish();
      return null;
    case 'modification-rollback':
      deployment.pending?.rollback();
      return null;
    case 'system-properties':
      for (const { nodeInstanceId, edits } of request.changes)
        applyEdits(deployment.model, nodeInstanceId, edits);
      return null;
    default:
      return null;
  }
}

/** Plays the graph from its first decision to its end. Includes operations that are still running at the end. */
function runGraph(
  game: Game,
  graph: GraphState,
  first: Decision,
): { outcome: GraphOutcome; rows: TaskRow[] } {
  const queue: Queue = [];
  let outcome = takeDecision(game, graph, first, queue);
  for (;;) {
    queue.sort((a, b) => a.at - b.at);
    const next = queue.shift();
    if (!next && outcome) return { outcome, rows: graph.nodes.map(rowOf) };
    if (!next) throw new Error(`graph ${graph.name} neither ends nor waits`);
    if (outcome && next.happening.kind === 'due') continue;
    game.now = Math.max(game.now, next.at);
    const ended = takeDecision(game, graph, advance(graph, [next.happening], game.now), queue);
    outcome ??= ended;
  }
}

type Queue = { at: number; happening: Happening }[];

/** Carries out a decision. Returns the outcome if the graph has ended. */
function takeDecision(game: Game, graph: GraphState, decision: Decision, queue: Queue): GraphOutcome | null {
  const { model } = game.deployment;
  for (const { nodeInstanceId, state } of decision.instanceStates)
    model.nodeInstances.find((i) => i.id === nodeInstanceId)!.state = state;
  for (const { nodeInstanceId, edits } of decision.systemProperties) applyEdits(model, nodeInstanceId, edits);
  game.played.events.push(...decision.events);
  for (const { idx, at } of decision.timers) queue.push({ at, happening: { kind: 'due', idx } });
  for (const idx of decision.dispatch) {
    const { spec: task, attempt } = graph.nodes[idx]!;
    if (task.kind !== 'operation') continue;
    queue.push({ at: game.now, happening: { kind: 'started', idx, attempt } });
    queue.push({ at: game.now + OPERATION_MS, happening: probe(game, task.payload, idx, attempt) });
    if (isCancelledHere(game)) queue.push({ at: game.now, happening: { kind: 'cancel', mode: 'cancel' } });
  }
  return decision.outcome;
}

/** Whether the scenario cancels at the last call. */
function isCancelledHere({ request, played }: Game): boolean {
  const { cancel } = request;
  const at = cancel && played.calls.at(-1)!.label === cancel.at;
  return (
    at === true && played.calls.filter(({ label }) => label === cancel!.at).length === (cancel!.nth ?? 1)
  );
}

/** Simulates the only operation of the scenarios, according to its inputs. */
function probe(game: Game, payload: OperationPayload, idx: number, attempt: number): Happening {
  const { fail_times: times, error, set, set_on: side, returns } = payload.inputs;
  const key = `${payload.operation} ${payload.relationship?.sourceId ?? ''} ${payload.relationship?.targetId ?? payload.nodeInstanceId}`;
  const nth = (game.counts.get(key) ?? 0) + 1;
  game.counts.set(key, nth);
  const isFailed = typeof times === 'number' && (times < 0 || nth <= times);
  const r = payload.relationship;
  const name = payload.operation.split('.').at(-1)!;
  const label = r ? `${name} ${r.sourceNode}->${r.targetNode}` : `${name} ${payload.nodeId}`;
  game.played.calls.push({ label, from: game.now, to: game.now + OPERATION_MS, isFailed });
  if (!isFailed) {
    const id = r ? (side === 'target' ? r.targetId : r.sourceId) : payload.nodeInstanceId;
    const instance = game.deployment.model.nodeInstances.find((i) => i.id === id)!;
    if (isJsonObject(set)) Object.assign((instance.runtime_properties ??= {}), set);
    return { kind: 'succeeded', idx, attempt, result: returns ?? null };
  }
  if (error === 'retry') return { kind: 'retry', idx, attempt, message: 'again', retryAfterMs: 50 };
  const types: { [error: string]: string } = {
    nonrecoverable: 'NonRecoverableError',
    exception: 'Exception',
  };
  const type = types[String(error)] ?? 'RecoverableError';
  return {
    kind: 'failed',
    idx,
    attempt,
    error: { type, message: 'told to fail', recoverable: error !== 'nonrecoverable' },
  };
}

function inputOf(game: Game): Parameters<typeof nextStage>[1] {
  const { request } = game;
  const { workflow, parameters, config } = request;
  return {
    workflowId: workflow,
    executionId: 'execution',
    deploymentId: 'deployment',
    blueprintId: 'blueprint',
    parameters,
    model: game.deployment.model,
    config,
    resume: game.isResumed,
    dryRun: request.isDryRun ?? false,
    isRehearsal: request.isDryRun ?? false,
  };
}

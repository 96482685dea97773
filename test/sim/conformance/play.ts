import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import {
  advance,
  type CallRequest,
  type GraphEvent,
  type GraphOutcome,
  type GraphSpec,
  graphFromSpec,
  type Happening,
  nextStage,
  type OperationPayload,
  type StageResult,
  type WorkflowConfig,
} from '@baton/task-graph';
import { applyEdits } from '../deployments';
import { type Deployment, performUpdate, startModification } from './deployment';

/** Runs one workflow on a deployment in memory, on a virtual clock on which every operation takes the same time. */

export interface Call {
  label: string;
  from: number;
  to: number;
  isFailed: boolean;
}

export interface Played {
  outcome: 'completed' | 'failed';
  error: { type: string; message: string } | null;
  calls: Call[];
  events: GraphEvent[];
}

export interface Request {
  workflow: string;
  parameters: JsonObject;
  config: WorkflowConfig;
  /** Of an update: the new blueprint. */
  update?: { text: string; inputs: JsonObject };
}

/** How often each probe has run so far; kept over the steps of a scenario. */
export type ProbeCounts = Map<string, number>;

const OPERATION_MS = 10;

interface Game {
  deployment: Deployment;
  counts: ProbeCounts;
  request: Request;
  played: Played;
  now: number;
}

export async function play(deployment: Deployment, counts: ProbeCounts, request: Request): Promise<Played> {
  const played: Played = { outcome: 'completed', error: null, calls: [], events: [] };
  const game: Game = { deployment, counts, request, played, now: 0 };
  const history: StageResult[] = [];
  for (;;) {
    const stage = nextStage(request.workflow, inputOf(game), history);
    if (stage.kind === 'end') {
      if (stage.outcome === 'failed') Object.assign(played, { outcome: 'failed', error: stage.error });
      return played;
    }
    if (stage.kind === 'graph') {
      const outcome = playGraph(game, stage.spec);
      if (outcome.kind === 'cancelled') throw new Error('nobody cancels here');
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
    case 'update-perform':
      return (await performUpdate(
        deployment,
        game.request.update!.text,
        game.request.update!.inputs,
      )) as unknown as Json;
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

function playGraph(game: Game, spec: GraphSpec): GraphOutcome {
  const graph = graphFromSpec(spec);
  const queue: { at: number; happening: Happening }[] = [{ at: game.now, happening: { kind: 'start' } }];
  const { model } = game.deployment;
  for (;;) {
    queue.sort((a, b) => a.at - b.at);
    const next = queue.shift();
    if (!next) throw new Error(`graph ${spec.name} neither ends nor waits`);
    game.now = Math.max(game.now, next.at);
    const decision = advance(graph, [next.happening], game.now);
    for (const { nodeInstanceId, state } of decision.instanceStates) {
      model.nodeInstances.find((i) => i.id === nodeInstanceId)!.state = state;
    }
    for (const { nodeInstanceId, edits } of decision.systemProperties)
      applyEdits(model, nodeInstanceId, edits);
    game.played.events.push(...decision.events);
    for (const { idx, at } of decision.timers) queue.push({ at, happening: { kind: 'due', idx } });
    for (const idx of decision.dispatch) {
      const { spec: task, attempt } = graph.nodes[idx]!;
      if (task.kind !== 'operation') continue;
      queue.push({ at: game.now, happening: { kind: 'started', idx, attempt } });
      queue.push({ at: game.now + OPERATION_MS, happening: probe(game, task.payload, idx, attempt) });
    }
    if (decision.outcome) return decision.outcome;
  }
}

/** What the scenarios' one operation does, from its inputs. */
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
  const { workflow, parameters, config } = game.request;
  return {
    workflowId: workflow,
    executionId: 'execution',
    deploymentId: 'deployment',
    blueprintId: 'blueprint',
    parameters,
    model: game.deployment.model,
    config,
    resume: false,
    dryRun: false,
  };
}

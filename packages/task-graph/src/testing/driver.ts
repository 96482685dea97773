import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { advance } from '../advance';
import type { Decision, GraphEvent, GraphFlags, GraphOutcome } from '../decision';
import { freshFlags, type GraphState, graphFromRows } from '../graph';
import type { Happening } from '../happening';
import type { DeploymentModel } from '../model';
import type { OperationPayload } from '../operation';
import { undoDecision } from '../step';
import type { GraphSpec, SystemPropertyEdit, TaskError, TaskRow } from '../task';
import type { CallRequest, Stage, StageResult, WorkflowInput } from '../workflow';
import { nextStage } from '../workflows/registry';
import { checkEnded } from './end-oracle';

/**
 * Runs workflows in memory on a virtual clock: every operation takes `durationMs`, its outcome comes from `run`. The
 * driver also does the part of the store in the contract, so that tests see the data that a real store would have.
 */

export type Outcome =
  | { kind: 'succeeded'; result?: Json }
  | { kind: 'failed'; error: TaskError }
  | { kind: 'retry'; message: string; retryAfterMs: number | null }
  | { kind: 'timed-out' }
  | { kind: 'deferred'; message: string; untilExecution: string | null; checkAfterMs: number }
  | { kind: 'lost' }
  /** The operation never ends. */
  | { kind: 'hang' };

export interface DriverOptions {
  run?: (payload: OperationPayload, nth: number) => Outcome;
  call?: (request: CallRequest, model: DeploymentModel) => Json;
  durationMs?: (payload: OperationPayload) => number;
  /** After each step: undoes and repeats it, and goes on with a graph rebuilt from rows. */
  isParanoid?: boolean;
  /** Reports every happening twice. */
  isRepeating?: boolean;
  /** Receives each decision with the rows as stored before it. */
  inspect?: (stored: readonly TaskRow[], decision: Decision) => void;
  /** Virtual time of a cancel. */
  cancelAtMs?: number;
}

export interface RunRecord {
  outcome: 'succeeded' | 'failed' | 'cancelled';
  error: { type: string; message: string } | null;
  /** `<operation> <node>` or `<operation> <source>-><target>`, in order of their start, with times. */
  calls: Call[];
  events: GraphEvent[];
  stages: { name: string; rows: TaskRow[]; flags: GraphFlags }[];
  history: StageResult[];
  requests: CallRequest[];
  elapsedMs: number;
}

export interface Call {
  label: string;
  instance: string;
  /** For a relationship's operation: the relationship, and the side of it. */
  related: string | null;
  operation: string;
  from: number;
  to: number;
  failed: boolean;
}

export function ok(result: Json = null): Outcome {
  return { kind: 'succeeded', result };
}

export function broken(recoverable = false, message = 'boom'): Outcome {
  const type = recoverable ? 'RecoverableError' : 'NonRecoverableError';
  return { kind: 'failed', error: { type, message, recoverable } };
}

/** Runs a workflow to its end and stores its states and properties in the model. */
export function drive(builtin: string, input: WorkflowInput, options: DriverOptions = {}): RunRecord {
  const world = newWorld(input.model, options);
  return driveFrom(builtin, input, world, []);
}

export interface World {
  model: DeploymentModel;
  options: DriverOptions;
  now: number;
  counts: Map<string, number>;
  record: RunRecord;
  /** Runs without a report so far: `idx/attempt` of the present graph. */
  running: Set<string>;
  /** Reports that were due after the end of the graph. */
  late: Due[];
}

export function newWorld(model: DeploymentModel, options: DriverOptions): World {
  const record: RunRecord = {
    outcome: 'succeeded',
    error: null,
    calls: [],
    events: [],
    stages: [],
    history: [],
    requests: [],
    elapsedMs: 0,
  };
  return { model, options, now: 0, counts: new Map(), record, running: new Set(), late: [] };
}

export function driveFrom(
  builtin: string,
  input: WorkflowInput,
  world: World,
  history: StageResult[],
): RunRecord {
  const { record } = world;
  record.history = history;
  for (let i = 0; i < 50; i++) {
    const stage = nextStage(builtin, { ...input, model: world.model }, history);
    if (stage.kind === 'end') {
      record.outcome = stage.outcome;
      record.error = stage.outcome === 'failed' ? stage.error : null;
      break;
    }
    const result = stage.kind === 'graph' ? runGraph(world, stage.spec) : runCall(world, stage);
    if (result === 'cancelled') {
      record.outcome = 'cancelled';
      break;
    }
    history.push({ ...result, name: stage.name, memo: stage.memo } as StageResult);
  }
  record.elapsedMs = world.now;
  return record;
}

function runCall(world: World, stage: Extract<Stage, { kind: 'call' }>) {
  world.record.requests.push(stage.request);
  if (stage.request.call === 'system-properties') {
    for (const { nodeInstanceId, edits } of stage.request.changes)
      applyEdits(world.model, nodeInstanceId, edits);
  }
  return { kind: 'call', response: world.options.call?.(stage.request, world.model) ?? null };
}

type GraphEnd = 'cancelled' | { kind: 'graph'; outcome: Exclude<GraphOutcome, { kind: 'cancelled' }> };

export function runGraph(world: World, spec: GraphSpec): GraphEnd {
  const stored: TaskRow[] = [];
  world.running.clear();
  const start = graphFromRows(spec, spec.tasks, freshFlags());
  for (const node of start.nodes) stored.push(initialRow(node.spec as TaskRow));
  return runStored(world, spec, start, stored, [{ at: world.now, happening: { kind: 'start' } }]);
}

function initialRow(spec: TaskRow): TaskRow {
  return {
    ...spec,
    state: 'pending',
    attempt: 0,
    losses: 0,
    retries: 0,
    notBefore: null,
    error: null,
    result: null,
    deferral: null,
  };
}

export interface Due {
  at: number;
  happening: Happening;
}

/** Plays a graph with stored rows until it ends or nothing more can happen. */
export function runStored(
  world: World,
  head: GraphSpec,
  start: GraphState,
  stored: TaskRow[],
  queue: Due[],
  first?: Decision,
): GraphEnd {
  let graph = start;
  const { options, record } = world;
  const stage = { name: head.name, rows: stored, flags: graph.flags };
  const eventsBefore = record.events.length;
  record.stages.push(stage);
  if (options.cancelAtMs !== undefined && options.cancelAtMs >= world.now) {
    queue.push({ at: options.cancelAtMs, happening: { kind: 'cancel', mode: 'cancel' } });
  }
  if (first) store(world, stored, first, queue);
  let decision = first;
  while (!decision?.outcome) {
    queue.sort((a, b) => a.at - b.at);
    const due = queue.shift();
    if (!due) throw new Error(`graph ${head.name} neither ended nor waits for anything`);
    world.now = Math.max(world.now, due.at);
    decision = take(world, graph, stored, due.happening, queue);
    stage.flags = decision.flags;
    if (options.isParanoid) graph = graphFromRows(head, structuredClone(stored), decision.flags);
  }
  const { outcome, flags, counters } = decision;
  const events = record.events.slice(eventsBefore);
  const { running, now } = world;
  if (options.isParanoid) checkEnded({ rows: stored, flags, outcome, events, counters, running, now });
  world.late = queue.filter(({ happening }) => 'attempt' in happening);
  return outcome.kind === 'cancelled' ? 'cancelled' : { kind: 'graph', outcome };
}

function take(
  world: World,
  graph: GraphState,
  stored: TaskRow[],
  happening: Happening,
  queue: Due[],
): Decision {
  if ('attempt' in happening && happening.kind !== 'started')
    world.running.delete(`${happening.idx}/${happening.attempt}`);
  const decision = checkedAdvance(world, graph, happening);
  world.options.inspect?.(stored, decision);
  store(world, stored, decision, queue);
  return decision;
}

/** Handles the reports that arrive until `untilMs` at a graph that has ended. */
export function takeLate(world: World, head: GraphSpec, stored: TaskRow[], untilMs: number): void {
  const { flags } = world.record.stages.at(-1)!;
  const due = world.late.filter(({ at }) => at <= untilMs).sort((a, b) => a.at - b.at);
  world.late = world.late.filter(({ at }) => at > untilMs);
  for (const { at, happening } of due) {
    world.now = Math.max(world.now, at);
    const graph = graphFromRows(head, structuredClone(stored), flags);
    const decision = take(world, graph, stored, happening, []);
    const { outcome, dispatch, added, timers, instanceStates } = decision;
    const others = decision.changes.filter(({ idx }) => !('idx' in happening) || idx !== happening.idx);
    if (outcome || [dispatch, added, timers, instanceStates, others].some((list) => list.length > 0))
      throw new Error('a late answer did more than being kept');
  }
}

function checkedAdvance(world: World, graph: GraphState, happening: Happening): Decision {
  if (!world.options.isParanoid) return advance(graph, [happening], world.now);
  const first = advance(graph, [happening], world.now);
  const text = JSON.stringify(first);
  undoDecision(graph, first);
  const second = advance(graph, [happening], world.now);
  if (JSON.stringify(second) !== text) throw new Error('a decision taken back and made again differs');
  return second;
}

function store(world: World, stored: TaskRow[], decision: Decision, queue: Due[]): void {
  for (const change of decision.changes) stored[change.idx] = { ...stored[change.idx]!, ...change };
  for (const row of decision.added) stored.push({ ...row });
  for (const { nodeInstanceId, state } of decision.instanceStates) {
    world.model.nodeInstances.find((i) => i.id === nodeInstanceId)!.state = state;
  }
  for (const { nodeInstanceId, edits } of decision.systemProperties)
    applyEdits(world.model, nodeInstanceId, edits);
  world.record.events.push(...decision.events);
  for (const idx of decision.dispatch) call(world, stored[idx]!, queue);
  for (const { idx, at } of decision.timers) queue.push({ at, happening: { kind: 'due', idx } });
}

function call(world: World, row: TaskRow, queue: Due[]): void {
  if (row.kind !== 'operation') throw new Error('only operations are dispatched');
  const label = labelOf(row.payload);
  const key = `${label} ${row.payload.nodeInstanceId} ${row.payload.relationship?.targetId ?? ''}`;
  const nth = (world.counts.get(key) ?? 0) + 1;
  world.counts.set(key, nth);
  const outcome = world.options.run?.(row.payload, nth) ?? ok();
  const to = world.now + (world.options.durationMs?.(row.payload) ?? 10);
  const { idx, attempt } = row;
  world.running.add(`${idx}/${attempt}`);
  const isFailed = outcome.kind !== 'succeeded';
  const { nodeInstanceId: instance, operation } = row.payload;
  const r = row.payload.relationship;
  const related = r && `${r.sourceId}->${r.targetId} ${r.side}`;
  world.record.calls.push({ label, instance, related, operation, from: world.now, to, failed: isFailed });
  const reports: Due[] = [{ at: world.now, happening: { kind: 'started', idx, attempt } }];
  if (outcome.kind !== 'hang')
    reports.push({ at: to, happening: { result: null, ...outcome, idx, attempt } as Happening });
  queue.push(...reports, ...(world.options.isRepeating ? reports : []));
}

function labelOf(payload: OperationPayload): string {
  const name = payload.operation.split('.').at(-1)!;
  const r = payload.relationship;
  return r ? `${name} ${r.sourceNode}->${r.targetNode}` : `${name} ${payload.nodeId}`;
}

/** Applies edits as the deployments service does. */
function applyEdits(model: DeploymentModel, nodeInstanceId: string, edits: SystemPropertyEdit[]): void {
  const instance = model.nodeInstances.find((i) => i.id === nodeInstanceId)!;
  const root = (instance.system_properties ??= {});
  for (const e of edits) {
    if (e.edit === 'set') setAt(root, e.path, e.value);
    else if (e.edit === 'copy') setAt(root, e.to, getAt(root, e.from));
    else delete (getAt(root, e.path.slice(0, -1)) as JsonObject)[e.path.at(-1)!];
  }
}

function getAt(root: JsonObject, path: string[]): Json {
  return path.reduce<Json>((at, key) => (isJsonObject(at) ? (at[key] ?? null) : null), root);
}

function setAt(root: JsonObject, path: string[], value: Json): void {
  let at = root;
  for (const key of path.slice(0, -1)) at = (at[key] ??= {}) as JsonObject;
  at[path.at(-1)!] = value;
}

/** The `label` of each recorded call, in order of start. */
export function labels(record: RunRecord): string[] {
  return record.calls.map((c) => c.label);
}

export function stageNames(record: RunRecord): string[] {
  return record.stages.map((s) => s.name);
}

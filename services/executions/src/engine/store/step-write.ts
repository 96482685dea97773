import type { Envelope } from '@baton/contracts';
import { jsonListInPieces, PIECE, type Pieces, storableJson } from '@baton/kernel';
import { agentOf, type GraphFlags, type TaskSpec, type TaskStatus } from '@baton/task-graph';
import { eventRow } from '../../events/store/events.sql';
import type { ExecutionRow, InstanceStateRow, NewEvent, Outcome, Phase, StoredStage } from '../../store/rows';
import type { TaskMarks } from './task-document';

/** A task as a step writes it: its id, its specification, its status and its lease. */
export interface TaskWrite {
  id: string;
  spec: TaskSpec;
  status: TaskStatus;
  workerId: string | null;
  /** Milliseconds from now; null = no lease. */
  leaseMs: number | null;
}

/** Columns of the execution that only some steps change; an absent column stays. */
export interface StepChanges {
  status?: ExecutionRow['status'];
  error?: string;
  phase?: Phase;
  stage?: StoredStage;
  history?: ExecutionRow['history'];
  outcome?: Outcome;
  graph_id?: string;
  /** Set when the deployment was updated since: files come from its present blueprint. */
  blueprint_id?: string;
  total_operations?: number;
  finished_operations?: number;
  earlier_total?: number;
  earlier_finished?: number;
  has_left_runs?: boolean;
}

/** All that one step of one execution writes. It is written only if the execution still is as the step found it. */
export interface StepWrite {
  executionId: string;
  /** Version of the row that the step was decided on. */
  version: number;
  phase: Phase;
  /** Expected status; null: any. */
  status: ExecutionRow['status'] | null;
  changes: StepChanges;
  /** Sets `started_at` to the time of the database. */
  isStart: boolean;
  /** Sets `ended_at` to the time of the database. */
  isEnd: boolean;
  wakeAt: string | null;
  newGraph: {
    id: string;
    name: string;
    wait_after_fail_ms: number;
    is_dry_run: boolean;
    flags: GraphFlags;
    /** Tasks of the graph as a document (engine/store/task-document.ts); null: they come as rows. */
    tasks: string | null;
  } | null;
  /** Null: they stay. */
  flags: GraphFlags | null;
  newTasks: TaskWrite[];
  tasks: TaskWrite[];
  /** Marks of tasks without rows. */
  marks: TaskMarks | null;
  events: NewEvent[];
  states: Omit<InstanceStateRow, 'seq'>[];
  /** States up to this number have reached deployments and are deleted; 0: none. */
  deliveredSeq: number;
  outbox: Omit<Envelope, 'time'>[];
}

/** Returns a step, decided on this row, that so far changes only the version. */
export function emptyWrite(execution: ExecutionRow): StepWrite {
  return {
    executionId: execution.id,
    version: execution.version,
    phase: execution.phase,
    status: null,
    changes: {},
    isStart: false,
    isEnd: false,
    wakeAt: execution.wake_at,
    newGraph: null,
    flags: null,
    newTasks: [],
    tasks: [],
    marks: null,
    events: [],
    states: [],
    deliveredSeq: 0,
    outbox: [],
  };
}

/** A step as the statement takes it (step-statement.sql.ts). */
export type StepInput = ReturnType<typeof inputOf>;

/** The lists of a step that may be long. */
interface Lists {
  events: object[];
  states: object[];
}

/** The steps that the statement is built for, and the same steps as JSON: its parameter. */
export interface StepsInput {
  inputs: StepInput[];
  json: string;
}

/**
 * Converts steps to the input of the statement, in pieces when they have many rows: a step that begins the work of ten thousand
 * instances has a hundred thousand rows; most steps have a few.
 */
export function* stepsInput(steps: readonly StepWrite[]): Pieces<StepsInput> {
  const rows = steps.reduce((sum, { events, states }) => sum + events.length + states.length, 0);
  if (rows > PIECE) return yield* longInput(steps);
  const inputs = steps.map((step) =>
    inputOf(step, { events: step.events.map(numberedEvent), states: step.states.map(numberedState) }),
  );
  return { inputs, json: storableJson(JSON.stringify(inputs)) };
}

function* longInput(steps: readonly StepWrite[]): Pieces<StepsInput> {
  const inputs: StepInput[] = [];
  const texts: string[] = [];
  for (const step of steps) {
    const events = yield* inRows(step.events, numberedEvent);
    const states = yield* inRows(step.states, numberedState);
    const input = inputOf(step, { events, states });
    inputs.push(input);
    const text = JSON.stringify({ ...input, events: undefined, states: undefined }).slice(0, -1);
    yield;
    const lists = [yield* jsonListInPieces(events), yield* jsonListInPieces(states)];
    texts.push(`${text},"events":${lists[0]},"states":${lists[1]}}`);
  }
  return { inputs, json: storableJson(`[${texts.join(',')}]`) };
}

const numberedEvent = (event: NewEvent, i: number): object => ({ n: i + 1, ...eventRow(event) });
const numberedState = (state: StepWrite['states'][number], i: number): object => ({ n: i + 1, ...state });

function* inRows<T>(list: readonly T[], rowOf: (one: T, i: number) => object): Pieces<object[]> {
  const rows: object[] = [];
  for (const [i, one] of list.entries()) {
    if (i % PIECE === PIECE - 1) yield;
    rows.push(rowOf(one, i));
  }
  return rows;
}

function inputOf(step: StepWrite, { events, states }: Lists) {
  const { plain, others } = sorted(step.tasks);
  return {
    execution_id: step.executionId,
    version: step.version,
    is_phase: step.phase,
    is_status: step.status,
    ...step.changes,
    is_start: step.isStart,
    is_end: step.isEnd,
    wake_at: step.wakeAt,
    new_graph: step.newGraph,
    flags: step.flags,
    new_tasks: step.newTasks.map((write) => ({
      ...statusOf(write),
      idx: write.spec.idx,
      spec: specOf(write.spec),
      // Few operations have an agent.
      ...(agentOf(write.spec) !== null && { agent: agentOf(write.spec) }),
    })),
    tasks: others.map(statusOf),
    marks: step.marks,
    succeeded: plain.succeeded,
    started: plain.started,
    events,
    event_count: step.events.length,
    states,
    state_count: step.states.length,
    delivered_seq: step.deliveredSeq || null,
    outbox: step.outbox,
  };
}

/** Splits writes in two kinds: many tasks only start or succeed without a worker, and for these the ids are enough. */
function sorted(writes: readonly TaskWrite[]) {
  const plain: { succeeded: string[]; started: string[] } = { succeeded: [], started: [] };
  const others: TaskWrite[] = [];
  for (const write of writes) {
    const { state, attempt, losses, retries, error, result } = write.status;
    const isPlain =
      write.spec.kind !== 'operation' &&
      attempt + losses + retries === 0 &&
      error === null &&
      result === null;
    if (isPlain && (state === 'succeeded' || state === 'started')) plain[state].push(write.id);
    else others.push(write);
  }
  return { plain, others };
}

function statusOf({ id, status, workerId, leaseMs }: TaskWrite) {
  return {
    id,
    state: status.state,
    attempt: status.attempt,
    losses: status.losses,
    retries: status.retries,
    not_before: status.notBefore,
    error: status.error,
    result: status.result === undefined ? null : status.result,
    // Most tasks have never waited.
    ...(status.deferral !== null && { deferral: status.deferral }),
    worker_id: workerId,
    lease_s: leaseMs === null ? null : leaseMs / 1000,
  };
}

/** Returns the fields of a task that no step changes; its number has a column of its own. */
function specOf({ kind, type, name, key, payload, policy, deps, subgraph, retryOf }: TaskSpec) {
  return { kind, type, name, key, payload, policy, deps, subgraph, retryOf };
}

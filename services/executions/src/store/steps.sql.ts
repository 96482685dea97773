import type { Envelope } from '@baton/contracts';
import { isoInstant } from '@baton/kernel';
import { type Db, sendAfterCommit, type Tx } from '@baton/postgres';
import type { GraphFlags, TaskRow } from '@baton/task-graph';
import { CompiledQuery } from 'kysely';
import { eventRow } from './events.sql';
import type { ExecutionRow, InstanceStateRow, NewEvent, Outcome, Phase, StoredStage } from './rows';
import type { DB } from './tables.gen';
import type { TaskMarks } from './task-document';

/** A task as written: its stored identity, its graph row, its lease. */
export interface TaskWrite {
  id: string;
  task: TaskRow;
  workerId: string | null;
  /** Milliseconds from now; null = no lease. */
  leaseMs: number | null;
}

/** Columns of the execution that only some steps change; what is absent stays. */
export interface StepChanges {
  status?: ExecutionRow['status'];
  error?: string;
  phase?: Phase;
  stage?: StoredStage;
  history?: ExecutionRow['history'];
  outcome?: Outcome;
  graph_id?: string;
  total_operations?: number;
  finished_operations?: number;
  earlier_total?: number;
  earlier_finished?: number;
}

/** All that one step of one execution writes. It is written when the execution still is as the step found it, or not at all. */
export interface StepWrite {
  executionId: string;
  /** Of the row that the step was decided on. */
  version: number;
  phase: Phase;
  /** Null: any. */
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
    /** Its tasks (store/task-document.ts); null: they come as rows. */
    tasks: string | null;
  } | null;
  /** Null: as they are. */
  flags: GraphFlags | null;
  newTasks: TaskWrite[];
  tasks: TaskWrite[];
  /** Of tasks without rows. */
  marks: TaskMarks | null;
  events: NewEvent[];
  states: Omit<InstanceStateRow, 'seq'>[];
  /** States up to this number have reached deployments and are forgotten; 0: none. */
  deliveredSeq: number;
  outbox: Omit<Envelope, 'time'>[];
}

/** A step that changes nothing yet but the version, decided on this row. */
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

/** The row after the step. */
export interface SteppedRow {
  id: string;
  version: number;
  last_event_seq: number;
  last_state_seq: number;
  /** Epoch ms of the database. */
  now_ms: number;
}

const COLUMNS: [name: keyof StepChanges, type: string][] = [
  ['status', 'text'],
  ['error', 'text'],
  ['phase', 'text'],
  ['stage', 'jsonb'],
  ['history', 'jsonb'],
  ['outcome', 'jsonb'],
  ['graph_id', 'uuid'],
  ['total_operations', 'int'],
  ['finished_operations', 'int'],
  ['earlier_total', 'int'],
  ['earlier_finished', 'int'],
];
const TASK = `id uuid, state text, attempt int, losses int, retries int, not_before bigint, error jsonb, result jsonb,
  worker_id text, lease_s double precision`;

/** The rows of the graph and of its tasks. */
const TASK_WRITES = `), graphs as (
  insert into tasks_graphs (id, execution_id, name, wait_after_fail_ms, is_dry_run, flags, tasks)
  select g.id, s.id, g.name, g.wait_after_fail_ms, g.is_dry_run, g.flags, decode(g.tasks, 'base64')
  from stepped s cross join lateral jsonb_to_record(s.new_graph) as g(id uuid, name text, wait_after_fail_ms int,
    is_dry_run boolean, flags jsonb, tasks text)
  where s.new_graph is not null
), graph_flags as (
  update tasks_graphs g set flags = s.flags from stepped s where g.id = s.graph_id and s.flags is not null
), written_marks as (
  insert into task_marks (graph_id, version, marks) select s.graph_id, s.version, s.marks from stepped s
  where s.marks is not null
), fresh_tasks as (
  insert into tasks (id, graph_id, execution_id, idx, spec, state, attempt, losses, retries, not_before, error, result,
    worker_id, lease_until, dispatched_at, version, created_at)
  select t.id, s.graph_id, s.id, t.idx, t.spec, t.state, t.attempt, t.losses, t.retries, t.not_before, t.error, t.result,
    t.worker_id, s.now + make_interval(secs => t.lease_s), case when t.state = 'sent' then s.now end, s.version, s.now
  from stepped s cross join lateral jsonb_to_recordset(s.new_tasks) as t(idx int, spec jsonb, ${TASK})
), changed_tasks as (
  update tasks set state = t.state, attempt = t.attempt, losses = t.losses, retries = t.retries,
    not_before = t.not_before, error = t.error, result = t.result, worker_id = t.worker_id,
    lease_until = s.now + make_interval(secs => t.lease_s),
    is_kill_requested = tasks.is_kill_requested and tasks.attempt = t.attempt,
    dispatched_at = case when t.state = 'sent' and tasks.attempt <> t.attempt then s.now else tasks.dispatched_at end,
    version = s.version
  from stepped s cross join lateral jsonb_to_recordset(s.tasks) as t(${TASK})
  where tasks.id = t.id
), plain_tasks as (
  update tasks set state = t.state, retries = 0, not_before = null, error = null, result = null, version = t.version
  from (select p.id::uuid, 'succeeded' as state, s.version
    from stepped s cross join lateral jsonb_array_elements_text(s.succeeded) as p(id)
    union all
    select p.id::uuid, 'started', s.version
    from stepped s cross join lateral jsonb_array_elements_text(s.started) as p(id)) t
  where tasks.id = t.id`;

/** What comes with a step: events in order, those of its execution group, node-instance states, messages. */
const OTHER_WRITES = `), written_events as (
  insert into events (tenant, execution_id, seq, is_log, event_type, level, logger, message, error_causes, operation,
    node_instance_id, node_name, source_id, target_id, worker, blueprint_id, deployment_id, deployment_display_name,
    workflow_id, visibility, created_by, reported_at, created_at)
  select s.tenant, s.id, s.event_base + v.n, coalesce(v.is_log, false), v.event_type, v.level, v.logger, v.message,
    v.error_causes, v.operation, v.node_instance_id, v.node_name, v.source_id, v.target_id, v.worker, s.blueprint_id,
    s.deployment_id, s.deployment_display_name, s.workflow_id, s.visibility, s.created_by,
    coalesce(v.reported_at, s.now), s.now
  from stepped s cross join lateral jsonb_to_recordset(s.events) as v(n int, is_log boolean, event_type text, level text,
    logger text, message text, error_causes jsonb, operation text, node_instance_id text, node_name text, source_id text,
    target_id text, worker text, reported_at timestamptz)
  order by s.id, v.n
), group_events as (
  insert into events (tenant, execution_group_id, seq, is_log, event_type, message, visibility, created_by, reported_at, created_at)
  select s.tenant, s.execution_group_id, 0, false, 'execution_state_change',
    format('execution ''%s'' changed state to ''%s''', s.id, s.status)
      || case when s.status = 'failed' then format(' with error ''%s''', s.error) else '' end,
    s.visibility, s.created_by, s.now, s.now
  from stepped s where s.execution_group_id is not null and (s.is_start or s.is_end)
), written_states as (
  insert into instance_states (execution_id, seq, node_instance_id, state, edits, created_at)
  select s.id, s.state_base + v.n, v.node_instance_id, v.state, v.edits, s.now from stepped s cross join lateral
    jsonb_to_recordset(s.states) as v(n int, node_instance_id text, state text, edits jsonb)
), delivered as (
  delete from instance_states d using stepped s where d.execution_id = s.id and d.seq <= s.delivered_seq
), messages as (
  insert into outbox (id, envelope)
  select (o->>'id')::uuid, o || jsonb_build_object('time', to_char(s.now at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from stepped s cross join lateral jsonb_array_elements(s.outbox) o
)
select id, version, last_event_seq, last_state_seq, (extract(epoch from now) * 1000)::bigint as now_ms from stepped`;

/**
 * Executions are locked in the order of their ids, so that two replicas with steps of the same ones do not wait for each
 * other. `stepped` holds only those that still are as expected; all else is written for these.
 */
const text = (isOne: boolean): string => `with input as materialized (
  select * from jsonb_to_recordset($1::jsonb) as i(execution_id uuid, version bigint, is_phase text, is_status text,
    ${COLUMNS.map(([name, type]) => `${name} ${type}`).join(', ')}, is_start boolean, is_end boolean, wake_at timestamptz,
    new_graph jsonb, flags jsonb, new_tasks jsonb, tasks jsonb, marks jsonb, succeeded jsonb, started jsonb, events jsonb,
    event_count int, states jsonb, state_count int, delivered_seq bigint, outbox jsonb)
), clock as materialized (select app_now() as now)
${
  isOne
    ? ''
    : `, locked as materialized (
  select e.id from input i join executions e on e.id = i.execution_id order by e.id for update of e)`
}, stepped as (
  update executions e set version = e.version + 1,
    ${COLUMNS.map(([name]) => `${name} = coalesce(i.${name}, e.${name})`).join(', ')},
    started_at = case when i.is_start then c.now else e.started_at end,
    ended_at = case when i.is_end then c.now else e.ended_at end, wake_at = i.wake_at,
    last_event_seq = e.last_event_seq + i.event_count, last_state_seq = e.last_state_seq + i.state_count
  from input i ${isOne ? '' : 'join locked l on l.id = i.execution_id'} cross join clock c
  where e.id = i.execution_id and e.version = i.version and e.phase = i.is_phase
    and (i.is_status is null or e.status = i.is_status)
  returning e.*, e.last_event_seq - i.event_count as event_base, e.last_state_seq - i.state_count as state_base, c.now,
    i.new_graph, i.flags, i.new_tasks, i.tasks, i.marks, i.succeeded, i.started, i.events, i.states, i.delivered_seq, i.outbox, i.is_start, i.is_end
${TASK_WRITES}
${OTHER_WRITES}`;

const ONE = { name: 'engine-step', text: text(true) };
const MANY = { name: 'engine-steps', text: text(false) };

/**
 * Writes steps of different executions in one statement and transaction, each one whole or not at all; answers the rows
 * of those that were written.
 */
export async function writeSteps(
  db: Pick<Db<DB>, 'statement'>,
  steps: readonly StepWrite[],
): Promise<SteppedRow[]> {
  return await db.statement<SteppedRow>(steps.length === 1 ? ONE : MANY, [parameterOf(steps)], (rows) =>
    messagesOf(steps, rows),
  );
}

/** Writes the step of an execution that `tx` has locked. @throws Error when it was decided on another row: a bug. */
export async function writeStep(tx: Tx<DB>, step: StepWrite): Promise<SteppedRow> {
  // Not prepared: the planner sees how large the tables are.
  const { rows } = await tx.executeQuery<SteppedRow>(CompiledQuery.raw(ONE.text, [parameterOf([step])]));
  if (!rows[0]) throw new Error(`execution ${step.executionId}: the step does not fit the locked row`);
  sendAfterCommit(tx, messagesOf([step], rows));
  return rows[0];
}

/** The messages of the steps that were written, as the outbox has them. */
function messagesOf(steps: readonly StepWrite[], rows: readonly SteppedRow[]): Envelope[] {
  return steps.flatMap(({ executionId, outbox }) => {
    const row = outbox.length > 0 && rows.find(({ id }) => id === executionId);
    return row ? outbox.map((message) => ({ ...message, time: isoInstant(row.now_ms) })) : [];
  });
}

const parameterOf = (steps: readonly StepWrite[]): string => withoutNul(JSON.stringify(steps.map(inputOf)));

function inputOf(step: StepWrite) {
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
      idx: write.task.idx,
      spec: specOf(write.task),
    })),
    tasks: others.map(statusOf),
    marks: step.marks,
    succeeded: plain.succeeded,
    started: plain.started,
    events: step.events.map((event, i) => ({ n: i + 1, ...eventRow(event) })),
    event_count: step.events.length,
    states: step.states.map((state, i) => ({ n: i + 1, ...state })),
    state_count: step.states.length,
    delivered_seq: step.deliveredSeq || null,
    outbox: step.outbox,
  };
}

/** Many rows change only by starting or succeeding without a worker: their ids say it all. */
function sorted(writes: readonly TaskWrite[]) {
  const plain: { succeeded: string[]; started: string[] } = { succeeded: [], started: [] };
  const others: TaskWrite[] = [];
  for (const write of writes) {
    const { kind, state, attempt, losses, retries, error, result } = write.task;
    const isPlain =
      kind !== 'operation' && attempt + losses + retries === 0 && error === null && result === null;
    if (isPlain && (state === 'succeeded' || state === 'started')) plain[state].push(write.id);
    else others.push(write);
  }
  return { plain, others };
}

function statusOf({ id, task, workerId, leaseMs }: TaskWrite) {
  return {
    id,
    state: task.state,
    attempt: task.attempt,
    losses: task.losses,
    retries: task.retries,
    not_before: task.notBefore,
    error: task.error,
    result: task.result === undefined ? null : task.result,
    worker_id: workerId,
    lease_s: leaseMs === null ? null : leaseMs / 1000,
  };
}

const STATUS = new Set(['idx', 'state', 'attempt', 'losses', 'retries', 'notBefore', 'error', 'result']);

/** What never changes of a task. */
function specOf(task: TaskRow): object {
  return Object.fromEntries(Object.entries(task).filter(([name]) => !STATUS.has(name)));
}

/** PostgreSQL stores no NUL character; scripts may print one. */
function withoutNul(json: string): string {
  return json.includes('\\u0000') ? json.replaceAll('\\u0000', '\\uFFFD') : json;
}

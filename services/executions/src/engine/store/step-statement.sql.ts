import { APP_NOW, type PreparedStatement } from '@baton/postgres';
import type { StepChanges, StepInput } from './step-write';

/** Columns of the execution that a step may change. */
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
  ['blueprint_id', 'text'],
  ['has_left_runs', 'boolean'],
];
const TASK = `id uuid, state text, attempt int, losses int, retries int, not_before bigint, error jsonb, result jsonb,
  deferral jsonb, worker_id text, lease_s double precision`;

const ENDED = `('succeeded', 'failed', 'rescheduled', 'response-sent')`;

/** Start and end of a new row from `t`: a task that has begun, or whose end no mark records, did so in this step. */
const NEW_TIMES = `case when t.state in ('started', 'succeeded') then s.now end, case when t.state in ${ENDED} then s.now end`;

/**
 * Start and end of a task whose row in `tasks` becomes `t`. The time in a column counts only together with the state that it
 * belongs to: the previous release changes the state alone.
 */
const CHANGED_TIMES = `
    started_at = case
      when t.state in ('pending', 'sent') then case when t.deferral is not null then tasks.started_at end
      when t.state in ('started', 'succeeded') and (tasks.attempt <> t.attempt
        or tasks.state not in ('started', 'succeeded', 'response-sent'))
        then case when t.deferral is null then s.now else coalesce(tasks.started_at, s.now) end
      else tasks.started_at end,
    ended_at = case when t.state not in ${ENDED} then null
      when tasks.state in ${ENDED} and tasks.attempt = t.attempt then tasks.ended_at
      else s.now end`;

interface Part {
  name: string;
  /** Columns of the input that the part reads, with types. */
  input: string;
  isNeeded(step: StepInput): boolean;
  sql: string;
}

/**
 * Rows that a step writes besides the execution's row, one part per kind: the graph, its tasks, events, node-instance states,
 * messages. Events get their storage ids in their order in the step, because a lateral function is read in its order (sorting
 * them again costs a twentieth of the statement). The storage ids order the events of one moment.
 */
const PARTS: readonly Part[] = [
  {
    name: 'graphs',
    input: 'new_graph jsonb',
    isNeeded: (step) => step.new_graph !== null,
    sql: `
  insert into tasks_graphs (id, execution_id, name, wait_after_fail_ms, is_dry_run, flags, tasks)
  select g.id, s.id, g.name, g.wait_after_fail_ms, g.is_dry_run, g.flags, decode(g.tasks, 'base64')
  from stepped s cross join lateral jsonb_to_record(s.new_graph) as g(id uuid, name text, wait_after_fail_ms int,
    is_dry_run boolean, flags jsonb, tasks text)
  where s.new_graph is not null`,
  },
  {
    name: 'graph_flags',
    input: 'flags jsonb',
    isNeeded: (step) => step.flags !== null,
    sql: `
  update tasks_graphs g set flags = s.flags from stepped s where g.id = s.graph_id and s.flags is not null`,
  },
  {
    name: 'written_marks',
    input: 'marks jsonb',
    isNeeded: (step) => step.marks !== null,
    sql: `
  insert into task_marks (graph_id, version, marks, created_at) select s.graph_id, s.version, s.marks, s.now from stepped s
  where s.marks is not null`,
  },
  {
    name: 'fresh_tasks',
    input: 'new_tasks jsonb',
    isNeeded: (step) => step.new_tasks.length > 0,
    sql: `
  insert into tasks (id, graph_id, execution_id, idx, spec, state, attempt, losses, retries, not_before, error, result,
    deferral, worker_id, lease_until, dispatched_at, version, created_at, started_at, ended_at, agent)
  select t.id, s.graph_id, s.id, t.idx, t.spec, t.state, t.attempt, t.losses, t.retries, t.not_before, t.error, t.result,
    t.deferral, t.worker_id, s.now + make_interval(secs => t.lease_s), case when t.state = 'sent' then s.now end, s.version, s.now,
    ${NEW_TIMES}, t.agent
  from stepped s cross join lateral jsonb_to_recordset(s.new_tasks) as t(idx int, spec jsonb, agent text, ${TASK})`,
  },
  {
    name: 'changed_tasks',
    input: 'tasks jsonb',
    isNeeded: (step) => step.tasks.length > 0,
    sql: `
  update tasks set state = t.state, attempt = t.attempt, losses = t.losses, retries = t.retries,
    not_before = t.not_before, error = t.error, result = t.result, deferral = t.deferral, worker_id = t.worker_id,
    lease_until = s.now + make_interval(secs => t.lease_s),
    is_kill_requested = tasks.is_kill_requested and tasks.attempt = t.attempt,
    dispatched_at = case when t.state = 'sent' and tasks.attempt <> t.attempt then s.now else tasks.dispatched_at end,
    version = s.version,${CHANGED_TIMES}
  from stepped s cross join lateral jsonb_to_recordset(s.tasks) as t(${TASK})
  where tasks.id = t.id`,
  },
  {
    name: 'plain_tasks',
    input: 'succeeded jsonb, started jsonb',
    isNeeded: (step) => step.succeeded.length + step.started.length > 0,
    sql: `
  update tasks set state = t.state, retries = 0, not_before = null, error = null, result = null, version = t.version,
    started_at = case when tasks.state in ('started', 'succeeded') then tasks.started_at else t.now end,
    ended_at = case when t.state = 'started' then null when tasks.state = 'succeeded' then tasks.ended_at else t.now end
  from (select p.id::uuid, 'succeeded' as state, s.version, s.now
    from stepped s cross join lateral jsonb_array_elements_text(s.succeeded) as p(id)
    union all
    select p.id::uuid, 'started', s.version, s.now
    from stepped s cross join lateral jsonb_array_elements_text(s.started) as p(id)) t
  where tasks.id = t.id`,
  },
  {
    name: 'written_events',
    input: 'events jsonb',
    isNeeded: (step) => step.events.length > 0,
    sql: `
  insert into events (tenant, execution_id, seq, is_log, event_type, level, logger, message, error_causes, operation,
    node_instance_id, node_name, source_id, target_id, worker, blueprint_id, deployment_id, deployment_display_name,
    workflow_id, visibility, created_by, reported_at, created_at)
  select s.tenant, s.id, s.event_base + v.n, coalesce(v.is_log, false), v.event_type, v.level, v.logger, v.message,
    v.error_causes, v.operation, v.node_instance_id, v.node_name, v.source_id, v.target_id, v.worker, s.blueprint_id,
    s.deployment_id, s.deployment_display_name, s.workflow_id, s.visibility, s.created_by,
    coalesce(v.reported_at, s.now), s.now
  from stepped s cross join lateral jsonb_to_recordset(s.events) as v(n int, is_log boolean, event_type text, level text,
    logger text, message text, error_causes jsonb, operation text, node_instance_id text, node_name text, source_id text,
    target_id text, worker text, reported_at timestamptz)`,
  },
  {
    name: 'group_events',
    input: '',
    isNeeded: (step) => step.is_start || step.is_end,
    sql: `
  insert into events (tenant, execution_group_id, seq, is_log, event_type, message, visibility, created_by, reported_at, created_at)
  select s.tenant, s.execution_group_id, 0, false, 'execution_state_change',
    format('execution ''%s'' changed state to ''%s''', s.id, s.status)
      || case when s.status = 'failed' then format(' with error ''%s''', s.error) else '' end,
    s.visibility, s.created_by, s.now, s.now
  from stepped s where s.execution_group_id is not null and (s.is_start or s.is_end)`,
  },
  {
    name: 'written_states',
    input: 'states jsonb',
    isNeeded: (step) => step.states.length > 0,
    sql: `
  insert into instance_states (execution_id, seq, node_instance_id, state, edits, created_at)
  select s.id, s.state_base + v.n, v.node_instance_id, v.state, v.edits, s.now from stepped s cross join lateral
    jsonb_to_recordset(s.states) as v(n int, node_instance_id text, state text, edits jsonb)`,
  },
  {
    name: 'delivered',
    input: 'delivered_seq bigint',
    isNeeded: (step) => step.delivered_seq !== null,
    sql: `
  delete from instance_states d using stepped s where d.execution_id = s.id and d.seq <= s.delivered_seq`,
  },
  {
    name: 'messages',
    input: 'outbox jsonb',
    isNeeded: (step) => step.outbox.length > 0,
    sql: `
  insert into outbox (id, envelope)
  select (o->>'id')::uuid, o || jsonb_build_object('time', to_char(s.now at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from stepped s cross join lateral jsonb_array_elements(s.outbox) o`,
  },
];

/** Row locks of the executions. `held`: the transaction that the statement is part of holds them; `free`: not known. */
export type Locks = 'held' | 'free';

/**
 * Returns the statement that writes steps, given as one array. It writes the executions' rows, and has only the parts that these
 * steps need (most steps of a chain need a third of the parts, and each part costs time even when it has nothing to do).
 * `stepped` holds only the executions that still are as expected; all other parts are written for these. With `free` locks, an
 * execution that another transaction has locked is left out: the other steps must not wait for that transaction.
 */
export function stepStatement(steps: readonly StepInput[], locks: Locks): PreparedStatement {
  const columns = COLUMNS.filter(([name]) => steps.some((step) => step[name] !== undefined));
  const parts = PARTS.filter(({ isNeeded }) => steps.some(isNeeded));
  const key = `${locks} ${bits(COLUMNS, columns)} ${bits(PARTS, parts)}`;
  let statement = statements.get(key);
  if (!statement) {
    statement = { name: `engine-${key}`, text: textOf(locks, columns, parts) };
    statements.set(key, statement);
  }
  return statement;
}

/** Statements by the columns and parts that they write; PostgreSQL keeps a plan of each one that was used. */
const statements = new Map<string, PreparedStatement>();

const bits = <T>(all: readonly T[], some: readonly T[]): string =>
  all.reduce((sum, one, i) => sum + (some.includes(one) ? 2 ** i : 0), 0).toString(36);

const namesOf = (columns: string): string[] => columns.split(', ').map((column) => column.split(' ')[0]!);

/** Columns of an execution that the parts read. Not all columns: each part would carry them. */
const STEPPED =
  `id, version, tenant, visibility, created_by, blueprint_id, deployment_id, deployment_display_name, workflow_id,
  execution_group_id, graph_id, status, error, last_event_seq, last_state_seq`
    .split(/,\s*/)
    .map((name) => `e.${name}`)
    .join(', ');

function textOf(locks: Locks, columns: typeof COLUMNS, parts: readonly Part[]): string {
  const ofParts = parts.flatMap(({ input }) => input || []);
  return `with input as materialized (
  select * from jsonb_to_recordset($1::jsonb) as i(execution_id uuid, version bigint, is_phase text, is_status text,
    ${columns.map(([name, type]) => `${name} ${type}, `).join('')}is_start boolean, is_end boolean, wake_at timestamptz,
    event_count int, state_count int${ofParts.map((input) => `, ${input}`).join('')})
), clock as materialized (select ${APP_NOW} as now)
${
  locks === 'held'
    ? ''
    : `, locked as materialized (
  select e.id from input i join executions e on e.id = i.execution_id for no key update of e skip locked)`
}, stepped as (
  update executions e set version = e.version + 1,
    ${columns.map(([name]) => `${name} = coalesce(i.${name}, e.${name}), `).join('')}
    started_at = case when i.is_start then c.now else e.started_at end,
    ended_at = case when i.is_end then c.now else e.ended_at end, wake_at = i.wake_at,
    last_event_seq = e.last_event_seq + i.event_count, last_state_seq = e.last_state_seq + i.state_count
  from input i ${locks === 'held' ? '' : 'join locked l on l.id = i.execution_id'} cross join clock c
  where e.id = i.execution_id and e.version = i.version and e.phase = i.is_phase
    and (i.is_status is null or e.status = i.is_status)
  returning ${STEPPED}, e.last_event_seq - i.event_count as event_base, e.last_state_seq - i.state_count as state_base, c.now,
    i.is_start, i.is_end${ofParts
      .flatMap(namesOf)
      .map((name) => `, i.${name}`)
      .join('')}
${parts.map(({ name, sql }) => `), ${name} as (${sql}\n`).join('')})
select id, version, last_event_seq, last_state_seq, (extract(epoch from now) * 1000)::bigint as now_ms from stepped`;
}

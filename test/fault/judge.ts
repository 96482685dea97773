import { checkRuns, WORKFLOWS } from './judge-runs';
import type { Asked } from './load';
import type { Rig } from './rig';
import { until } from './until';

export interface TaskRow {
  id: string;
  execution_id: string;
  operation: string;
  instance: string;
  state: string;
  attempt: number;
  result: unknown;
}

export interface ExecutionRow {
  id: string;
  request_id: string;
  workflow_id: string;
  deployment_id: string;
  status: string;
  phase: string;
  last_event_seq: string;
  error: string | null;
  /** Epoch ms by the database clock. */
  created: number;
}

export interface EventRow {
  execution_id: string;
  seq: string;
  event_type: string | null;
  operation: string | null;
  node_instance_id: string | null;
  /** Epoch ms. */
  at: number;
}

const TERMINAL_EVENTS = new Set(['workflow_succeeded', 'workflow_failed', 'workflow_cancelled']);
const EVENT_OF: Record<string, string> = {
  terminated: 'workflow_succeeded',
  failed: 'workflow_failed',
  cancelled: 'workflow_cancelled',
};
/** Result of the judge; `violations` is empty when every guarantee held. */
export interface Verdict {
  violations: string[];
  executions: number;
  /** Runs in the ledger. */
  operations: number;
  /** Runs in the ledger beyond one per operation: work that was repeated because its first run was lost. */
  repeats: number;
}

export interface JudgeOptions {
  /** Allowed final statuses of these executions. Default: terminated. */
  allowed?: string[];
  /** Process ids that died or lost their leases: only their runs may be repeated. Default: any process. */
  victims?: readonly number[];
}

/** Checks ledger, database and answers against the guarantees of docs/RELIABILITY.md. */
export async function judge(rig: Rig, asked: readonly Asked[], options: JudgeOptions = {}): Promise<Verdict> {
  const violations: string[] = [];
  const say = (guarantee: string, text: string): void => void violations.push(`${guarantee}: ${text}`);
  const keys = asked.map((one) => one.key);
  const executions = await rig.sql<ExecutionRow>(
    `select id, request_id, workflow_id, deployment_id, status, phase, last_event_seq, error,
       (extract(epoch from created_at) * 1000)::float8 as created
     from executions.executions where request_id = any($1)`,
    [keys],
  );
  const ids = executions.map((execution) => execution.id);
  checkAcceptance(asked, executions, say);
  checkEnds(executions, options.allowed ?? ['terminated'], say);
  const events = await eventsOf(rig, ids);
  checkEvents(executions, events, say);
  const tasks = await tasksOf(rig, ids);
  const runs = rig.ledger.runs().filter((run) => ids.includes(run.execution));
  const repeats = checkRuns({ executions, tasks, runs, events }, options.victims ?? null, say);
  await checkEffects(rig, executions, tasks, say);
  await checkRest(rig, say);
  return { violations, executions: executions.length, operations: runs.length, repeats };
}

export type Say = (guarantee: string, text: string) => void;

/** Checks that every key that was ever answered has exactly one execution: the one in the answer. */
function checkAcceptance(asked: readonly Asked[], executions: readonly ExecutionRow[], say: Say): void {
  for (const one of asked) {
    const stored = executions.filter((execution) => execution.request_id === one.key);
    if (stored.length > 1) say('G1', `key ${one.key} made ${stored.length} executions`);
    if (one.ids.size > 1) say('G1', `key ${one.key} was answered with ${[...one.ids].join(' and ')}`);
    for (const id of one.ids)
      if (stored[0]?.id !== id) say('G1', `${id} was accepted, stored is ${stored[0]?.id ?? 'nothing'}`);
  }
}

function checkEnds(executions: readonly ExecutionRow[], allowed: readonly string[], say: Say): void {
  for (const { id, status, phase, error, workflow_id } of executions) {
    if (phase !== 'ended') say('G2', `${id} (${workflow_id}) is ${status}, ${phase}`);
    else if (!allowed.includes(status)) say('G2', `${id} (${workflow_id}) ended as ${status}: ${error}`);
  }
}

async function eventsOf(rig: Rig, ids: string[]): Promise<Map<string, EventRow[]>> {
  const rows = await rig.sql<EventRow>(
    `select execution_id, seq, event_type, operation, node_instance_id,
       (extract(epoch from created_at) * 1000)::float8 as at
     from executions.events where execution_id = any($1::uuid[]) order by execution_id, seq`,
    [ids],
  );
  const byExecution = new Map<string, EventRow[]>(ids.map((id) => [id, []]));
  for (const row of rows) byExecution.get(row.execution_id)!.push(row);
  return byExecution;
}

/** Checks G7: sequence numbers are 1, 2, 3, ..., and there is exactly one terminal event, which fits the status. */
function checkEvents(executions: readonly ExecutionRow[], events: Map<string, EventRow[]>, say: Say): void {
  for (const { id, status, last_event_seq } of executions) {
    const own = events.get(id)!;
    const gap = own.findIndex((event, i) => Number(event.seq) !== i + 1);
    if (gap >= 0) say('G7', `${id}: event ${gap + 1} is ${own[gap]!.seq}`);
    if (own.length !== Number(last_event_seq))
      say('G7', `${id}: ${own.length} events, the last is ${last_event_seq}`);
    const ends = own.flatMap((event) =>
      TERMINAL_EVENTS.has(event.event_type ?? '') ? [event.event_type] : [],
    );
    if (ends.length !== 1 || ends[0] !== EVENT_OF[status])
      say('G7', `${id} is ${status} with ends [${ends.join(', ')}]`);
  }
}

async function tasksOf(rig: Rig, ids: string[]): Promise<TaskRow[]> {
  return await rig.sql<TaskRow>(
    `select id, execution_id, spec->'payload'->>'operation' as operation, spec->'payload'->>'nodeInstanceId' as instance,
       state, attempt, result
     from executions.tasks where execution_id = any($1::uuid[]) and spec->'payload'->>'operation' is not null
       and spec->>'kind' = 'operation'`,
    [ids],
  );
}

/** Checks that data of node instances come from accepted runs only, and that instance states are those of the last workflow. */
async function checkEffects(
  rig: Rig,
  executions: readonly ExecutionRow[],
  tasks: readonly TaskRow[],
  say: Say,
): Promise<void> {
  const last = new Map<string, ExecutionRow>();
  // Not sorted by id: ids follow the clocks of the processes, which may be wrong.
  for (const execution of [...executions].sort((a, b) => a.created - b.created))
    last.set(execution.deployment_id, execution);
  for (const [deployment, execution] of last) {
    // A cancel may leave any intermediate state.
    if (execution.status !== 'terminated' || !WORKFLOWS[execution.workflow_id]) continue;
    const instances = await rig.sql<{ id: string; state: string; properties: { configured?: string } }>(
      `select i.id, i.state, i.runtime_properties as properties from deployments.node_instances i
       join deployments.deployments d on d.key = i.deployment_key where d.id = $1`,
      [deployment],
    );
    const wanted = execution.workflow_id === 'install' ? ['started'] : ['deleted', 'uninitialized'];
    for (const { id, state, properties } of instances) {
      if (!wanted.includes(state)) say('G6', `${id} is ${state} after ${execution.workflow_id}`);
      const task = tasks.find(
        (one) =>
          one.execution_id === execution.id &&
          one.instance === id &&
          one.state === 'succeeded' &&
          one.operation.endsWith('.configure'),
      );
      if (task && properties.configured !== task.result)
        say('G4', `${id} shows what run ${properties.configured} wrote; accepted was ${String(task.result)}`);
    }
  }
}

/** Checks that nothing is left behind: outbox rows, undelivered states, parked messages. */
async function checkRest(rig: Rig, say: Say): Promise<void> {
  const schemas = await rig.sql<{ table_schema: string }>(
    `select table_schema from information_schema.tables where table_name = 'outbox'`,
  );
  const left = schemas.map(
    ({ table_schema: schema }) => `select '${schema}' as what, id::text from "${schema}".outbox`,
  );
  const query = [...left, `select 'states', execution_id::text from executions.instance_states`].join(
    ' union all ',
  );
  let rows: { what: string }[] = [];
  await until('empty outboxes', 20_000, async () => {
    rows = await rig.sql<{ what: string }>(query);
    return rows.length === 0;
  }).catch(() => say('G2', `left behind: ${rows.map((row) => row.what).join(', ')}`));
  const parked = await rig.parked();
  if (parked > 0) say('G2', `${parked} messages are parked`);
}

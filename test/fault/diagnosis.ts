import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { route } from '../harness/session';
import { within } from './deadline';
import { queueAt } from './queues';
import type { Rig } from './rig';

const ASK_MS = 4_000;
/** Maximum of lines per section: enough to see the pattern. */
const MOST = 12;

interface OpenTask {
  execution_id: string;
  what: string;
  state: string;
  attempt: number;
  losses: number;
  worker_id: string | null;
  lease_in_s: number | null;
  dispatched_s: number | null;
}

/**
 * Describes the state of the whole rig in lines, with the reasons of everything that waits. Every question has a time limit,
 * because the rig may be dead.
 */
export async function diagnose(rig: Rig): Promise<string[]> {
  const sections: [string, () => Promise<string[]>][] = [
    ['processes', async () => [processes(rig)]],
    ['executions that have not ended, and what they wait for', () => openExecutions(rig)],
    ['tasks under way', () => openTasks(rig)],
    ['workers', () => workers(rig)],
    ['left in tables', () => leftovers(rig)],
    ['queues (messages ready, consumers)', () => queues(rig)],
    ['statements and locks of PostgreSQL', () => statements(rig)],
    ['last warnings', async () => warnings(rig)],
  ];
  const lines: string[] = [];
  for (const [title, ask] of sections) {
    const found = await within(ASK_MS, ask()).catch((error: Error) => [`not known: ${error.message}`]);
    if (found.length === 0) continue;
    lines.push(`${title}:`, ...found.slice(0, MOST).map((line) => `  ${line}`));
    if (found.length > MOST) lines.push(`  and ${found.length - MOST} more`);
  }
  return lines;
}

function processes(rig: Rig): string {
  return [...rig.fleet.processes.values()]
    .map((one) => {
      const pid = one.pid();
      return `${one.name} ${pid === null ? 'ENDED' : stateOf(pid)}`;
    })
    .join(', ');
}

/** Returns the state letter of /proc: S sleeping, R running, T stopped, Z zombie. */
function stateOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.charAt(0);
  } catch {
    return 'gone';
  }
}

async function openExecutions(rig: Rig): Promise<string[]> {
  const rows = await rig.sql<{ id: string; text: string }>(
    `select id, concat_ws(' ', id, workflow_id, deployment_id, status, phase, 'wake', wake_at) as text
     from executions.executions where phase <> 'ended' order by created_at limit ${MOST}`,
  );
  return await Promise.all(rows.map(async ({ id, text }) => `${text}: ${await whyOf(rig, id)}`));
}

async function whyOf(rig: Rig, executionId: string): Promise<string> {
  try {
    const answer = (await rig.client.call(
      route('explainExecution') as never,
      { params: { executionId }, timeoutMs: 2_000 } as never,
    )) as { waiting_for: { kind: string; message: string; since: string; until: string }[] };
    const reasons = answer.waiting_for.map(
      ({ kind, message, since, until }) => `[${kind}] ${message}, since ${since}, until ${until}`,
    );
    return reasons.slice(0, 3).join('; ') || 'nothing is named';
  } catch (error) {
    return `/why does not answer (${(error as Error).message})`;
  }
}

async function openTasks(rig: Rig): Promise<string[]> {
  const rows = await rig.sql<OpenTask>(
    `select t.execution_id, coalesce(t.spec->'payload'->>'operation', t.spec->>'name') || ' of '
         || coalesce(t.spec->'payload'->>'nodeInstanceId', '-') as what,
       t.state, t.attempt, t.losses, t.worker_id, extract(epoch from t.lease_until - now())::int as lease_in_s,
       extract(epoch from now() - t.dispatched_at)::int as dispatched_s
     from executions.tasks t join executions.executions e on e.graph_id = t.graph_id
     where e.phase <> 'ended' and t.state in ('sent', 'started') order by t.dispatched_at`,
  );
  return rows.map(
    (row) =>
      `${row.what} of ${row.execution_id}: ${row.state}, attempt ${row.attempt}, lost ${row.losses}, dispatched ` +
      `${row.dispatched_s} s ago, ${row.worker_id ? `lease of ${row.worker_id} for ${row.lease_in_s} s` : 'unclaimed'}`,
  );
}

async function workers(rig: Rig): Promise<string[]> {
  const rows = await rig.sql<{ text: string }>(
    `select concat(id, ' (process ', about->>'pid', ') heard ', extract(epoch from now() - last_seen)::int, ' s ago') as text
     from executions.workers order by last_seen desc`,
  );
  return rows.map((row) => row.text);
}

async function leftovers(rig: Rig): Promise<string[]> {
  const rows = await rig.sql<{ text: string }>(
    `select 'executions.outbox ' || count(*) as text from executions.outbox
     union all select 'deployments.outbox ' || count(*) from deployments.outbox
     union all select 'executions.instance_states ' || count(*) from executions.instance_states`,
  );
  return [rows.map((row) => row.text).join(', ')];
}

async function queues(rig: Rig): Promise<string[]> {
  const names = [
    'executions.task-ready.v1.worker',
    'executions.execution-requested.v1.executions',
    'executions.execution-finished.v1.executions',
  ];
  const found = await rig.withChannel((channel) =>
    Promise.all(names.map((name) => channel.checkQueue(queueAt(rig.fleet.namespace, name)))),
  );
  const parked = await rig.parked();
  return [
    ...found.map((queue, i) => `${names[i]}: ${queue.messageCount}, ${queue.consumerCount}`),
    `parked: ${parked}`,
  ];
}

async function statements(rig: Rig): Promise<string[]> {
  const rows = await rig.sql<{ text: string }>(
    `select concat_ws(' ', pid, application_name, state, wait_event_type, wait_event,
       extract(epoch from now() - state_change)::int || ' s', left(query, 90)) as text
     from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
       and (state <> 'idle' or wait_event_type = 'Lock') order by state_change`,
  );
  return rows.map((row) => row.text);
}

function warnings(rig: Rig): string[] {
  return [...rig.fleet.processes.keys()].flatMap((name) => {
    const file = join(rig.fleet.dir, 'logs', `${name}.log`);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const bad = lines.filter((line) => !line.includes('"level":"info"')).slice(-2);
    return bad.map((line) => `${name}: ${line.slice(0, 400)}`);
  });
}

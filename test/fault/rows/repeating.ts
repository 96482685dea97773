import { randomUUID } from 'node:crypto';
import { ask } from '../ask';
import { diagnose } from '../diagnosis';
import { judge } from '../judge';
import { type Asked, startOnce, toAsk } from '../load';
import { readOnce } from '../read-once';
import { ENGINES, type Rig } from '../rig';
import type { Outcome, Row, RowContext } from '../row';
import { pause, until } from '../until';

const SCHEDULES = 4;
const EVERY_S = 2;
const FREEZE_MS = 1_500;
/** Time limit from the last occurrence, or the last repair, to the last decision and end. */
const END_MS = 60_000;

export const repeatingRows: Row[] = [
  {
    id: 'F8r',
    title: 'engines are killed and paused in turn while repeating schedules fire',
    pass: 'each occurrence is there once: fired, with one execution that ended well, or skipped with a reason',
    limitS: 150,
    run: repeating,
  },
];

async function repeating(at: RowContext): Promise<Outcome> {
  const { rig, isSuite } = at;
  const outcome: Outcome = { violations: [], facts: {} };
  const tag = randomUUID().slice(0, 8);
  const deployments = await rig.deployments(`repeat-${tag}`, SCHEDULES);
  const installs = await installed(rig, deployments);
  const count = isSuite ? 8 : 12;
  // Whole seconds, like those of a rule.
  const firstMs = Math.ceil(Date.now() / 1000) * 1000 + 2_000;
  const since = new Date(firstMs).toISOString().slice(0, 19).replace('T', ' ');
  for (const deployment of deployments)
    await ask(rig.client, 'createExecutionSchedule', {
      params: { schedule_id: 'again' },
      query: { deployment_id: deployment },
      body: {
        workflow_id: 'execute_operation',
        parameters: { operation: 'cloudify.interfaces.lifecycle.create', node_ids: ['base'] },
        since,
        rrule: `FREQ=SECONDLY;INTERVAL=${EVERY_S};COUNT=${count}`,
        slip: 1,
      },
    });
  const kills = await killInTurn(rig, firstMs + count * EVERY_S * 1000);
  await until('the decisions about all occurrences', END_MS, () => isDecided(rig, deployments, count)).catch(
    async (error: Error) => {
      outcome.violations.push(`G8: ${error.message}`);
      outcome.diagnosis = await diagnose(rig);
    },
  );
  const times = Array.from({ length: count }, (_, i) => firstMs + i * EVERY_S * 1000);
  const { violations, fired, skipped, asked } = await checkOccurrences(rig, deployments, times);
  outcome.violations.push(...violations);
  if (fired < SCHEDULES * 3) outcome.violations.push(`floor: only ${fired} occurrences fired`);
  const verdict = await judge(rig, [...installs, ...asked], { victims: [] });
  outcome.violations.push(...verdict.violations);
  outcome.facts = {
    kills,
    fired,
    skipped,
    executions: verdict.executions,
    operations: verdict.operations,
    repeated: verdict.repeats,
  };
  return outcome;
}

async function installed(rig: Rig, deployments: readonly string[]): Promise<Asked[]> {
  const asked = deployments.map((deployment) => toAsk(deployment));
  await Promise.all(asked.map((one) => startOnce(rig, one, new Map())));
  await until('installed deployments', 40_000, async () => {
    const rows = await rig.sql<{ phase: string }>(
      `select phase from executions.executions where request_id = any($1)`,
      [asked.map((one) => one.key)],
    );
    return rows.length === asked.length && rows.every((row) => row.phase === 'ended');
  });
  return asked;
}

/** Freezes one replica for a moment, kills both, then restarts both. */
async function killInTurn(rig: Rig, endMs: number): Promise<number> {
  let turn = 0;
  for (; Date.now() < endMs; turn++) {
    const [first, second] = turn % 2 === 0 ? ENGINES : [...ENGINES].reverse();
    await pause(2_000);
    rig.process(first!).signal('SIGSTOP');
    await pause(FREEZE_MS);
    await rig.kill(second!);
    rig.process(first!).signal('SIGCONT');
    await pause(200);
    await rig.kill(first!);
    await rig.heal();
    await until('an engine again', 60_000, async () => (await readOnce(rig)).status === 200);
  }
  return 2 * turn;
}

interface OccurrenceRow {
  deployment: string;
  at: number;
  outcome: string;
  reason: string | null;
  execution_id: string | null;
  request_id: string | null;
  phase: string | null;
  created: number | null;
}

async function occurrencesOf(rig: Rig, deployments: readonly string[]): Promise<OccurrenceRow[]> {
  return await rig.sql<OccurrenceRow>(
    `select s.deployment_id as deployment, (extract(epoch from o.occurrence) * 1000)::float8 as at, o.outcome, o.reason,
       o.execution_id, e.request_id, e.phase, (extract(epoch from e.created_at) * 1000)::float8 as created
     from executions.execution_schedules s join executions.schedule_occurrences o on o.schedule_key = s.key
       left join executions.executions e on e.id = o.execution_id
     where s.deployment_id = any($1) order by 1, 2`,
    [deployments],
  );
}

async function isDecided(rig: Rig, deployments: readonly string[], count: number): Promise<boolean> {
  const rows = await occurrencesOf(rig, deployments);
  const isOpen = (row: OccurrenceRow): boolean =>
    row.outcome === 'due' || (row.outcome === 'fired' && row.phase !== 'ended');
  return rows.length >= deployments.length * count && !rows.some(isOpen);
}

async function checkOccurrences(
  rig: Rig,
  deployments: readonly string[],
  times: readonly number[],
): Promise<{ violations: string[]; fired: number; skipped: number; asked: Asked[] }> {
  const rows = await occurrencesOf(rig, deployments);
  const violations: string[] = [];
  for (const deployment of deployments) {
    const own = rows.filter((row) => row.deployment === deployment);
    if (own.map((row) => row.at).join() !== times.join())
      violations.push(
        `G8: ${deployment} has ${own.length} occurrences, ${times.length} times have passed, or others than these`,
      );
  }
  for (const row of rows) {
    const name = `${row.deployment} at ${new Date(row.at).toISOString()}`;
    if (row.outcome !== 'fired' && row.outcome !== 'skipped')
      violations.push(`G8: ${name} is ${row.outcome}: ${row.reason}`);
    if (row.created !== null && row.created < row.at) violations.push(`G8: ${name} fired before its time`);
  }
  const fired = rows.filter((row) => row.execution_id !== null);
  const executions = await rig.sql<{ id: string; request_id: string; deployment: string }>(
    `select id, request_id, deployment_id as deployment from executions.executions
     where deployment_id = any($1) and workflow_id = 'execute_operation'`,
    [deployments],
  );
  const named = new Set(fired.map((row) => row.execution_id));
  if (named.size !== fired.length) violations.push('G8: two occurrences name one execution');
  for (const one of executions)
    if (!named.has(one.id))
      violations.push(`G8: no occurrence names execution ${one.id} of ${one.deployment}`);
  const asked = fired.map(
    (row): Asked => ({
      key: row.request_id!,
      deployment: row.deployment,
      workflow: 'execute_operation',
      ids: new Set([row.execution_id!]),
      status: null,
    }),
  );
  return { violations, fired: fired.length, skipped: rows.length - fired.length, asked };
}

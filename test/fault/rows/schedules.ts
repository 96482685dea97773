import { randomUUID } from 'node:crypto';
import { call } from '../../harness/session';
import type { Load } from '../load';
import { readOnce } from '../read-once';
import { ENGINES } from '../rig';
import { type Row, type RowContext, type Struck, underLoad } from '../row';
import { pause, until } from '../until';

const SCHEDULED = 12;
/** Maximum delay of a start once an engine is running. */
const LATE_MS = 5_000;

export const scheduleRows: Row[] = [
  {
    id: 'F8',
    title: 'engines are killed and paused in turn while executions become due',
    pass: 'each scheduled execution starts once, not before its time and at most 5 s after it or after an engine is back',
    limitS: 150,
    run: (at) => underLoad(at, (load) => dueMeanwhile(at, load)),
  },
];

/** Time for which one replica is frozen before both are killed: it may hold due executions. */
const FREEZE_MS = 1_500;

/** A time without any engine, epoch ms. */
interface Outage {
  from: number;
  to: number;
}

async function dueMeanwhile({ rig, isSuite }: RowContext, load: Load): Promise<Struck> {
  const deployments = await rig.deployments(`due-${randomUUID().slice(0, 8)}`, SCHEDULED);
  const startAt = Date.now() + 3_000;
  const stepMs = isSuite ? 1_000 : 1_800;
  const asked = await Promise.all(
    deployments.map((deployment, i) =>
      load.add(deployment, 'install', { scheduled_time: new Date(startAt + i * stepMs).toISOString() }),
    ),
  );
  const outages: Outage[] = [];
  const end = startAt + SCHEDULED * stepMs;
  for (let turn = 0; Date.now() < end; turn++) {
    const [first, second] = turn % 2 === 0 ? ENGINES : [...ENGINES].reverse();
    // Freezes one replica for a moment, kills both, then restarts both.
    rig.process(first!).signal('SIGSTOP');
    await pause(FREEZE_MS);
    const from = Date.now();
    await rig.kill(second!);
    rig.process(first!).signal('SIGCONT');
    await rig.kill(first!);
    await pause(1_000);
    await rig.heal();
    // A started process is not ready yet: on a busy machine seconds pass in between.
    await until('an engine again', 60_000, async () => (await readOnce(rig)).status === 200);
    outages.push({ from: from - FREEZE_MS, to: Date.now() });
    await pause(2_500);
  }
  const late = await latenessOf(
    rig,
    asked.flatMap((one) => [...one.ids]),
    outages,
  );
  return {
    facts: { scheduled: SCHEDULED, outages: outages.length, 'latest start': `${Math.max(...late.late)} ms` },
    violations: late.violations,
    judge: { victims: [] },
  };
}

/** Returns the ms without an engine between two instants. */
function withoutEngine(from: number, to: number, outages: readonly Outage[]): number {
  return outages.reduce(
    (sum, outage) => sum + Math.max(0, Math.min(to, outage.to) - Math.max(from, outage.from)),
    0,
  );
}

/** Returns the delay of each start; time without an engine does not count. */
async function latenessOf(
  { sql, client }: RowContext['rig'],
  ids: string[],
  outages: readonly Outage[],
): Promise<{ late: number[]; violations: string[] }> {
  await until('the starts of all scheduled executions', 30_000, async () => {
    const statuses = await Promise.all(
      ids.map(async (executionId) => (await call(client, 'getExecution', { executionId })).status as string),
    );
    return statuses.every((status) => !['scheduled', 'queued', 'pending'].includes(status));
  });
  const rows = await sql<{ id: string; due: number; started: number }>(
    `select id, (extract(epoch from scheduled_for) * 1000)::float8 as due,
       (extract(epoch from started_at) * 1000)::float8 as started from executions.executions where id = any($1::uuid[])`,
    [ids],
  );
  const late: number[] = [];
  const violations: string[] = [];
  for (const { id, due, started } of rows) {
    const lateMs = Math.round(started - due - withoutEngine(due, started, outages));
    late.push(lateMs);
    if (started < due) violations.push(`G8: ${id} started ${Math.round(due - started)} ms before its time`);
    if (lateMs > LATE_MS) violations.push(`G8: ${id} started ${lateMs} ms late, allowed ${LATE_MS}`);
  }
  return { late, violations };
}

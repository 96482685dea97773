import { randomUUID } from 'node:crypto';
import { call } from '../../harness/session';
import { ask } from '../ask';
import { diagnose } from '../diagnosis';
import { judge } from '../judge';
import type { Asked } from '../load';
import type { Rig } from '../rig';
import type { Outcome, Row, RowContext } from '../row';
import { pause, until } from '../until';

/** Time limit from the last repair to the end: the lease of the dead process, a tick of the loop, and the work itself. */
const END_MS = 60_000;

export const backgroundRows: Row[] = [
  {
    id: 'F1b',
    title: 'cluster-status is killed again and again while it makes a snapshot and a log bundle',
    pass: `both are there, or have failed and say why, within ${END_MS / 1000} s; their executions ended alike`,
    limitS: 150,
    run: archives,
  },
];

/** The API of an archive that is created in the background. */
interface Kind {
  name: string;
  create: string;
  get: string;
  download: string;
  param: string;
  workflow: string;
}

const KINDS: readonly Kind[] = [
  {
    name: 'snapshot',
    create: 'createSnapshot',
    get: 'getSnapshot',
    download: 'downloadSnapshot',
    param: 'snapshot_id',
    workflow: 'create_snapshot',
  },
  {
    name: 'log bundle',
    create: 'createLogBundle',
    get: 'getLogBundle',
    download: 'downloadLogBundle',
    param: 'log_bundle_id',
    workflow: 'create_log_bundle',
  },
];

async function archives({ rig, random }: RowContext): Promise<Outcome> {
  const outcome: Outcome = { violations: [], facts: {} };
  const ends: string[] = [];
  let kills = 0;
  let inTheMiddle = 0;
  const made = KINDS.map((kind) => ({
    kind,
    params: { [kind.param]: `away-${randomUUID().slice(0, 8)}` },
  }));
  const accepted = Promise.all(
    made.map(({ kind, params }) => ask(rig.client, kind.create, { params, isDone: ['conflict_error'] })),
  );
  accepted.catch(() => undefined);
  // Kills during the request, during the creation, and after another process has taken over.
  for (const beforeMs of [random.below(120), random.below(600), random.below(3_000)]) {
    await pause(beforeMs);
    await rig.kill('cluster-status');
    kills++;
    if (await isAnyOpen(rig)) inTheMiddle++;
    await pause(random.below(500));
    await rig.heal();
    await accepted;
  }
  for (const { kind, params } of made) {
    const end = await endOf(rig, kind, params).catch(async (error: Error) => {
      outcome.violations.push(error.message);
      outcome.diagnosis = await diagnose(rig);
      return 'open';
    });
    ends.push(`${kind.name} ${end}`);
  }
  const asked = await executionsOf(rig, made);
  // After three interrupted attempts the service gives up: that counts as an end.
  const verdict = await judge(rig, asked, { allowed: ['terminated', 'failed'] });
  outcome.violations.push(...verdict.violations);
  if (inTheMiddle === 0) outcome.violations.push('floor: nothing was being made when the service was killed');
  outcome.facts = {
    kills,
    'in the middle of work': inTheMiddle,
    ends: ends.join(' and '),
    executions: verdict.executions,
  };
  return outcome;
}

async function isAnyOpen({ sql }: Rig): Promise<boolean> {
  const rows = await sql(
    `select 1 from cluster_status.snapshot_jobs where state <> 'ended'
     union all select 1 from cluster_status.log_bundles where not is_reported`,
  );
  return rows.length > 0;
}

/** Waits for the end. A created archive must be readable; a failed one must have an error. */
async function endOf(rig: Rig, kind: Kind, params: Record<string, string>): Promise<string> {
  const { status, error } = await until(`the end of a ${kind.name}`, END_MS, async () => {
    const one = await call(rig.client, kind.get, params);
    return one.status === 'creating' ? null : (one as { status: string; error: string | null });
  });
  if (status === 'created') {
    const response = await fetch(archiveUrl(rig, kind, params), {
      headers: {
        authorization: `Basic ${Buffer.from(`admin:${rig.fleet.adminPassword}`).toString('base64')}`,
        tenant: 'default_tenant',
      },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (!response.ok || bytes.subarray(0, 2).toString() !== 'PK')
      throw new Error(
        `G10: a ${kind.name} is ${status}, its archive ${response.status}, ${bytes.length} bytes`,
      );
  } else if (!error) throw new Error(`G2: a ${kind.name} is ${status} and does not say why`);
  return status;
}

const archiveUrl = (rig: Rig, kind: Kind, params: Record<string, string>): string =>
  `${rig.fleet.baseUrl}/api/v3.1/${kind.name === 'snapshot' ? 'snapshots' : 'log-bundles'}/${params[kind.param]}/archive`;

async function executionsOf(
  rig: Rig,
  made: readonly { kind: Kind; params: Record<string, string> }[],
): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const { kind, params } of made) {
    const rows = await until(`the end of the execution of a ${kind.name}`, END_MS, async () => {
      const found = await rig.sql<{ id: string; request_id: string; status: string; phase: string }>(
        `select id, request_id, status, phase from executions.executions
         where workflow_id = $1 and parameters ->> $2 = $3`,
        [kind.workflow, kind.param, params[kind.param]],
      );
      return found.length > 0 && found.every((row) => row.phase === 'ended') ? found : null;
    });
    if (rows.length !== 1) throw new Error(`G1: a ${kind.name} has ${rows.length} executions`);
    for (const { id, request_id: key, status } of rows)
      asked.push({ key, deployment: '', workflow: kind.workflow, ids: new Set([id]), status });
  }
  return asked;
}

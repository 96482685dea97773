import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ask } from '../ask';
import { startOnce, toAsk } from '../load';
import { headersOf } from '../read-once';
import type { Rig } from '../rig';
import { type Row, type RowContext, type Struck, underLoad } from '../row';
import { pause, until } from '../until';

export const canaryRows: Row[] = [
  {
    id: 'F27',
    limitS: 420,
    title:
      'scripts print, answer and fail with a secret, while a worker, the engine, PostgreSQL and RabbitMQ are killed',
    pass: 'its text is in no log, event, answer, row, message, file or snapshot: not as it is, nor in base64, hex or as in a URL',
    run: (at) => underLoad(at, () => canary(at)),
  },
];

const run = promisify(execFile);
/** Executions of the script, each with a fault under it. */
const FAULTS = ['worker-1', 'executions', 'postgres', 'rabbit', 'worker-2', 'secrets'];

async function canary({ rig, isSuite }: RowContext): Promise<Struck> {
  // Characters that look different in every form.
  const secret = `c4n+/ry ${randomBytes(32).toString('base64')}`;
  await ask(rig.client, 'putSecret', {
    params: { secret_key: 'fault_canary' },
    body: { value: secret, update_if_exists: true },
  });
  const [deployment] = await rig.deployments(`canary-${randomBytes(3).toString('hex')}`, 1, {
    blueprint: 'canary',
    inputs: {},
  });
  const violations: string[] = [];
  const ends = new Map<string, number>();
  for (const [n, victim] of FAULTS.slice(0, isSuite ? 3 : FAULTS.length).entries()) {
    const asked = toAsk(deployment!, n % 2 === 0 ? 'install' : 'uninstall');
    const id = await startOnce(rig, asked, new Map());
    await pause(200 + n * 100);
    await strike(rig, victim);
    const status = await endOf(rig, id);
    ends.set(status, (ends.get(status) ?? 0) + 1);
  }
  const shown = await answersAbout(rig, deployment!);
  if (!shown.includes('********')) violations.push('floor: no event shows where the secret was hidden');
  const places = await placesOf(rig, shown);
  try {
    violations.push(...(await hits(places, secret)));
    // The search itself: it finds what is planted.
    const planted = join(places, 'planted');
    writeFileSync(planted, `x${Buffer.from(secret).toString('hex')}x`);
    if ((await hits(places, secret)).length === violations.length)
      violations.push('floor: the search finds nothing');
  } finally {
    rmSync(places, { recursive: true, force: true });
  }
  return {
    facts: { executions: [...ends].map(([s, n]) => `${n} x ${s}`).join(', ') },
    violations,
  };
}

async function strike(rig: Rig, victim: string): Promise<void> {
  if (victim === 'postgres') await rig.postgres.restart();
  else if (victim === 'rabbit') await rig.rabbit.restart();
  else await rig.kill(victim);
  await rig.heal();
}

const endOf = (rig: Rig, id: string): Promise<string> =>
  until(`the end of ${id}`, 90_000, async () => {
    const { status } = await ask(rig.client, 'getExecution', { params: { executionId: id } });
    return ['terminated', 'failed', 'cancelled'].includes(status) ? (status as string) : null;
  });

/** What clients can read of the deployment. */
async function answersAbout(rig: Rig, deployment: string): Promise<string> {
  const paths = [
    `events?deployment_id=${deployment}&_size=1000&type=cloudify_event&type=cloudify_log`,
    `executions?deployment_id=${deployment}&_size=1000`,
    `node-instances?deployment_id=${deployment}`,
    `nodes?deployment_id=${deployment}`,
    `deployments/${deployment}`,
    'operations?_size=1000',
    'audit?_size=1000',
    'secrets',
  ];
  const texts = await Promise.all(
    paths.map(async (path) => {
      const answer = await fetch(`${rig.fleet.baseUrl}/api/v3.1/${path}`, {
        headers: headersOf(rig.fleet.adminPassword),
      });
      return await answer.text();
    }),
  );
  return texts.join('\n');
}

/** A folder with everything that is kept anywhere: logs, answers, the database, the broker's messages, a snapshot. */
async function placesOf(rig: Rig, shown: string): Promise<string> {
  const places = join(rig.fleet.dir, 'places');
  mkdirSync(places);
  writeFileSync(join(places, 'answers'), shown);
  const database = new URL(rig.fleet.databaseUrl);
  database.host = new URL(rig.postgres.url).host;
  // Parents of bytea as hex and of JSON as text; the data folder itself has compressed parts.
  await run('pg_dump', ['--inserts', '-f', join(places, 'database.sql'), database.href], {
    maxBuffer: 1_048_576,
  });
  await run('cp', ['-r', join(rig.fleet.dir, 'logs'), join(rig.fleet.dir, 'blobs'), places]);
  await run('cp', ['-r', rig.rabbit.folder, join(places, 'broker')]);
  await run('cp', ['-r', rig.postgres.folder, join(places, 'postgres')]).catch(() => undefined);
  await snapshotInto(rig, join(places, 'snapshot'));
  return places;
}

async function snapshotInto(rig: Rig, folder: string): Promise<void> {
  const params = { snapshot_id: `canary-${randomBytes(3).toString('hex')}` };
  await ask(rig.client, 'createSnapshot', { params, isDone: ['conflict_error'] });
  await until('a snapshot', 90_000, async () => {
    const { status } = await ask(rig.client, 'getSnapshot', { params });
    return status === 'created';
  });
  const answer = await fetch(`${rig.fleet.baseUrl}/api/v3.1/snapshots/${params.snapshot_id}/archive`, {
    headers: headersOf(rig.fleet.adminPassword),
  });
  mkdirSync(folder);
  writeFileSync(join(folder, 'snapshot.zip'), Buffer.from(await answer.arrayBuffer()));
  await run('python3', ['-m', 'zipfile', '-e', join(folder, 'snapshot.zip'), folder]);
}

/** The secret as it may stand somewhere. Parts of base64 depend on what stands before: three of them. */
function formsOf(secret: string): Map<string, Buffer> {
  const bytes = Buffer.from(secret);
  const shifted = (by: number): string =>
    Buffer.concat([Buffer.alloc(by), bytes])
      .toString('base64')
      .slice(by === 0 ? 0 : 4, -4);
  return new Map(
    Object.entries({
      'as it is': secret,
      hex: bytes.toString('hex'),
      base64: shifted(0),
      'base64 after one byte': shifted(1),
      'base64 after two bytes': shifted(2),
      base64url: bytes.toString('base64url').slice(0, -2),
      'in a URL': encodeURIComponent(secret),
      // What JSON and the shell make of it is the same as it is; a slash may be escaped.
      'with escaped slashes': secret.replaceAll('/', '\\/'),
    }).map(([name, text]) => [name, Buffer.from(text)]),
  );
}

async function hits(folder: string, secret: string): Promise<string[]> {
  const found: string[] = [];
  const forms = formsOf(secret);
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name);
    if (!statSync(path).isFile()) continue;
    let tail = Buffer.alloc(0);
    for await (const piece of createReadStream(path, { highWaterMark: 4 * 1_048_576 })) {
      const text = Buffer.concat([tail, piece as Buffer]);
      for (const [form, bytes] of forms)
        if (text.includes(bytes)) found.push(`G11: the secret stands in ${name}, ${form}`);
      tail = text.subarray(-512);
    }
  }
  return [...new Set(found)];
}

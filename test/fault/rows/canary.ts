import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, createReadStream, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
    limitS: 600,
    title:
      'scripts print, answer and fail with a secret, while workers, services, PostgreSQL and RabbitMQ are killed, restarted, paused and cut off',
    pass: 'its text is in no log, log bundle, event, answer, row, message, file, core file or snapshot: not as it is, nor in base64, hex or as in a URL',
    run: (at) => underLoad(at, () => canary(at)),
  },
];

const run = promisify(execFile);
/** Longer than the lease of any running operation. */
const PAUSED_MS = 18_000;
const AWAY_MS = 4_000;

/** The script is executed once under each of these faults, all of which heal. */
const FAULTS: Record<string, (rig: Rig) => Promise<unknown>> = {
  'worker killed': (rig) => rig.kill('worker-1'),
  'engine killed': (rig) => rig.kill('executions'),
  'PostgreSQL restarted': (rig) => rig.postgres.restart(),
  'RabbitMQ restarted': (rig) => rig.rabbit.restart(),
  'secrets killed': (rig) => rig.kill('secrets'),
  'deployments killed': (rig) => rig.kill('deployments'),
  'gateway killed': (rig) => rig.kill('gateway'),
  'worker paused past its lease': async (rig) => {
    rig.process('worker-3').signal('SIGSTOP');
    await pause(PAUSED_MS);
    rig.process('worker-3').signal('SIGCONT');
  },
  'PostgreSQL away': async (rig) => {
    rig.postgresProxy.blackhole();
    await pause(AWAY_MS);
  },
  'RabbitMQ away': async (rig) => {
    rig.rabbitProxy.blackhole();
    await pause(AWAY_MS);
  },
  /** Like a real crash: with a core file, if the system writes them. */
  'worker aborted': async (rig) => {
    rig.expectDead('worker-2');
    rig.process('worker-2').signal('SIGABRT');
    await rig.process('worker-2').ended();
  },
};
/** Number of faults in a short run, chosen by its seed. */
const IN_SUITE = 3;

async function canary({ rig, isSuite, random }: RowContext): Promise<Struck> {
  // Contains characters that are encoded differently in each format.
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
  const names = Object.keys(FAULTS);
  while (isSuite && names.length > IN_SUITE) names.splice(random.below(names.length), 1);
  for (const [n, name] of names.entries()) {
    const asked = toAsk(deployment!, n % 2 === 0 ? 'install' : 'uninstall');
    const id = await startOnce(rig, asked, new Map());
    await pause(200 + (n % 6) * 100);
    await FAULTS[name]!(rig);
    await rig.heal();
    const status = await endOf(rig, id);
    ends.set(status, (ends.get(status) ?? 0) + 1);
  }
  const shown = await answersAbout(rig, deployment!);
  if (!shown.includes('********')) violations.push('floor: no event shows where the secret was hidden');
  const places = await placesOf(rig, shown);
  try {
    violations.push(...(await hits(places, secret)));
    // Checks the search itself: it must find a planted secret.
    const planted = join(places, 'planted');
    writeFileSync(planted, `x${Buffer.from(secret).toString('hex')}x`);
    if ((await hits(places, secret)).length === violations.length)
      violations.push('floor: the search finds nothing');
  } finally {
    rmSync(places, { recursive: true, force: true });
  }
  return {
    facts: { faults: names.length, executions: [...ends].map(([s, n]) => `${n} x ${s}`).join(', ') },
    violations,
  };
}

const endOf = (rig: Rig, id: string): Promise<string> =>
  until(`the end of ${id}`, 90_000, async () => {
    const { status } = await ask(rig.client, 'getExecution', { params: { executionId: id } });
    return ['terminated', 'failed', 'cancelled'].includes(status) ? (status as string) : null;
  });

/** Returns everything that clients can read about the deployment. */
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

/** Creates a folder with copies of all stored data: logs, answers, the database, the broker's messages, a snapshot. */
async function placesOf(rig: Rig, shown: string): Promise<string> {
  const places = join(rig.fleet.dir, 'places');
  mkdirSync(places);
  writeFileSync(join(places, 'answers'), shown);
  const database = new URL(rig.fleet.databaseUrl);
  database.host = new URL(rig.postgres.url).host;
  // The dump shows bytea as hex and JSON as text; the data folder itself contains compressed parts.
  await run('pg_dump', ['--inserts', '-f', join(places, 'database.sql'), database.href], {
    maxBuffer: 1_048_576,
  });
  await run('cp', ['-r', join(rig.fleet.dir, 'logs'), join(rig.fleet.dir, 'blobs'), places]);
  await run('cp', ['-r', rig.rabbit.folder, join(places, 'broker')]);
  await run('cp', ['-r', rig.postgres.folder, join(places, 'postgres')]).catch(() => undefined);
  copyCores(rig, join(places, 'cores'));
  await archiveInto(rig, join(places, 'snapshot'), SNAPSHOT);
  await archiveInto(rig, join(places, 'bundle'), LOG_BUNDLE);
  return places;
}

/** Copies core files that aborted processes of the manager may have left. */
function copyCores(rig: Rig, folder: string): void {
  mkdirSync(folder);
  for (const root of [rig.fleet.dir, process.cwd()]) {
    const names = readdirSync(root, { recursive: root === rig.fleet.dir }) as string[];
    for (const name of names)
      if (/(^|\/)core(\.\d+)?$/.test(name) && statSync(join(root, name)).isFile())
        cpSync(join(root, name), join(folder, name.replaceAll('/', '-')));
  }
}

/** An archive that the manager creates and the test downloads. */
interface Archive {
  path: string;
  param: string;
  create: Operation;
  get: Operation;
}
type Operation = Parameters<typeof ask>[1];

const SNAPSHOT: Archive = {
  path: 'snapshots',
  param: 'snapshot_id',
  create: 'createSnapshot',
  get: 'getSnapshot',
};
const LOG_BUNDLE: Archive = {
  path: 'log-bundles',
  param: 'log_bundle_id',
  create: 'createLogBundle',
  get: 'getLogBundle',
};

async function archiveInto(rig: Rig, folder: string, { path, param, create, get }: Archive): Promise<void> {
  const id = `canary-${randomBytes(3).toString('hex')}`;
  const params = { [param]: id };
  await ask(rig.client, create, { params, isDone: ['conflict_error'] });
  await until(`${path}/${id}`, 90_000, async () => {
    const { status } = await ask(rig.client, get, { params });
    return status === 'created';
  });
  const answer = await fetch(`${rig.fleet.baseUrl}/api/v3.1/${path}/${id}/archive`, {
    headers: headersOf(rig.fleet.adminPassword),
  });
  if (!answer.ok) throw new Error(`${path}/${id} is not answered: ${answer.status}`);
  mkdirSync(folder);
  const file = join(folder, 'archive.zip');
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
  await run('python3', ['-m', 'zipfile', '-e', file, folder]);
}

/** Returns the encodings in which the secret may appear. Base64 text depends on the bytes before it: hence three variants. */
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
      // JSON and the shell leave the secret unchanged, except that a slash may be escaped.
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

import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Load } from '../load';
import { headersOf, readOnce } from '../read-once';
import type { Rig } from '../rig';
import { type Row, type RowContext, type Struck, underLoad } from '../row';
import { pause, until } from '../until';

/** Rows with a database that lacks a resource: disk space, locks, connections. */
export const starvedRows: Row[] = [
  {
    id: 'F13',
    limitS: 240,
    title: 'the disk of PostgreSQL is full for 15 s',
    pass: 'nothing is answered 500, writes get 507 or 503 and reads 200 or 503; writes work within 30 s after there is room; nothing is lost or torn',
    databaseBytes: 384 * 1_048_576,
    needsDisks: true,
    run: (at) => underLoad(at, (load) => fullDisk(at, load)),
  },
  {
    id: 'F14',
    limitS: 240,
    title:
      'LOCK TABLE for 20 s, a transaction that pauses with row locks, then all connections taken for 10 s',
    pass: 'every answer within 15 s, as 503 with Retry-After where it fails, other services answer within 5 s; no more connections than configured; writes work 10 s after',
    run: (at) => underLoad(at, (load) => heldDatabase(at, load)),
  },
];

/** Returns errors of our clients that no fault explains. */
const faults = (load: Load, row: string): string[] =>
  [...load.errors.keys()]
    .filter((kind) => /^500\b/.test(kind))
    .map((kind) => `${row}: clients saw ${load.errors.get(kind)} x ${kind}`);

async function fullDisk({ rig }: RowContext, load: Load): Promise<Struck> {
  const filler = join(rig.postgres.folder, 'filler');
  fill(filler);
  const statuses = new Map<string, number>();
  const count = (kind: string): void => void statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
  const violations: string[] = [];
  const end = performance.now() + 15_000;
  try {
    while (performance.now() < end) {
      const read = await readOnce(rig);
      count(`read ${read.status}`);
      if (![200, 503].includes(read.status)) violations.push(`F13: a read was answered ${read.status}`);
      const write = await writeOnce(rig, 'x'.repeat(200_000));
      count(`write ${write.status}`);
      if (![200, 201, 503, 507].includes(write.status))
        violations.push(`F13: a write was answered ${write.status} ${write.text.slice(0, 200)}`);
      else if (write.status >= 500 && write.retryAfter === null)
        violations.push(`F13: ${write.status} came without Retry-After`);
      // Takes any space that was freed meanwhile.
      fill(filler);
    }
  } finally {
    rmSync(filler, { force: true });
  }
  const freedAt = performance.now();
  // A PostgreSQL that stopped because of a failed WAL write is restarted, as its supervisor would do.
  await rig.postgres.revive();
  await until(
    'a write after there is room',
    30_000,
    async () => (await writeOnce(rig, 'small')).status < 300,
  );
  const refused = [...statuses].filter(([kind]) => kind.startsWith('write 50')).length;
  if (refused === 0) violations.push('floor: the disk was full and every write was answered well');
  return {
    facts: {
      answers: [...statuses].map(([kind, n]) => `${n} x ${kind}`).join(', '),
      'well again after': seconds(performance.now() - freedAt),
    },
    violations: [...violations, ...faults(load, 'F13')],
  };
}

/** Fills the remaining space. */
function fill(path: string): void {
  const piece = Buffer.alloc(1_048_576, 1);
  const file = openSync(path, 'a');
  try {
    for (let size = piece.length; size >= 4_096; ) {
      try {
        writeSync(file, piece, 0, size);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        size = Math.floor(size / 2);
      }
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

interface Answer {
  status: number;
  ms: number;
  retryAfter: string | null;
  text: string;
}

/** Sends one request without a retry; status 0: no answer within 30 s. */
async function once(rig: Rig, method: string, path: string, body?: object): Promise<Answer> {
  const since = performance.now();
  const response = await fetch(`${rig.fleet.baseUrl}/api/v3.1${path}`, {
    method,
    headers: { ...headersOf(rig.fleet.adminPassword), 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  }).catch(() => null);
  const text = (await response?.text().catch(() => '')) ?? '';
  const retryAfter = response?.headers.get('retry-after') ?? null;
  return { status: response?.status ?? 0, ms: performance.now() - since, retryAfter, text };
}

let sites = 0;
/** Writes a secret; the text determines the size of the row. */
const writeOnce = (rig: Rig, text: string): Promise<Answer> =>
  once(rig, 'PUT', `/secrets/starved_${sites++}`, { value: text, update_if_exists: true });

const LOCK_MS = 20_000;
const ANSWER_MS = 15_000;
/** Time limit for a service whose tables are not locked, on a busy machine. */
const OTHERS_MS = 5_000;

async function heldDatabase(at: RowContext, load: Load): Promise<Struck> {
  const { rig } = at;
  const violations: string[] = [];
  const url = new URL(rig.fleet.databaseUrl);
  url.host = new URL(rig.postgres.url).host;
  const holder = new pg.Client({ connectionString: url.href });
  await holder.connect();
  const seen: Answer[] = [];
  let others = 0;
  try {
    await holder.query('begin');
    await holder.query('lock table executions.executions in access exclusive mode');
    const end = performance.now() + LOCK_MS;
    const asking = Array.from({ length: 60 }, async () => {
      while (performance.now() < end) {
        seen.push(await once(rig, 'GET', '/executions?_size=1'));
        await pause(100);
      }
    });
    while (performance.now() < end) {
      const other = await once(rig, 'GET', '/secrets?_size=1');
      others = Math.max(others, other.ms);
      if (other.status !== 200) violations.push(`F14: another service answered ${other.status} meanwhile`);
      await pause(500);
    }
    await holder.query('rollback');
    await Promise.all(asking);
    await untilWell(rig, 'the lock');
    violations.push(...(await pausedTransaction(rig, holder)));
  } finally {
    await holder.end();
  }
  const most = Math.max(...seen.map(({ ms }) => ms));
  const bad = seen.filter(({ status }) => status !== 200 && status !== 503);
  if (bad.length > 0)
    violations.push(`F14: ${bad.length} answers ${bad[0]!.status}: ${bad[0]!.text.slice(0, 200)}`);
  if (seen.some(({ status, retryAfter }) => status === 503 && retryAfter === null))
    violations.push('F14: 503 came without Retry-After');
  if (!seen.some(({ status }) => status === 503))
    violations.push('floor: nobody was refused while the table was locked');
  if (most > ANSWER_MS) violations.push(`F14: an answer came after ${seconds(most)}, allowed 15 s`);
  if (others > OTHERS_MS)
    violations.push(`F14: another service answered after ${seconds(others)}, allowed 5 s`);
  const exhausted = await takenConnections(rig, url.href);
  return {
    facts: {
      'answers while locked': `${seen.length}, slowest ${seconds(most)}`,
      'other services': `slowest ${seconds(others)}`,
      'while no connection was free': exhausted.fact,
    },
    violations: [...violations, ...exhausted.violations, ...faults(load, 'F14')],
  };
}

/** A transaction that holds row locks and stays idle: requests that need the rows must be refused in time. */
async function pausedTransaction(rig: Rig, holder: pg.Client): Promise<string[]> {
  await holder.query('begin');
  await holder.query(`select 1 from deployments.deployments where id like 'lane-%' for update`);
  const answer = await once(rig, 'PATCH', '/deployments/lane-0', { labels: [{ held: 'yes' }] });
  await holder.query('rollback');
  await untilWell(rig, 'the paused transaction');
  const isRefused = answer.status === 503 && answer.retryAfter !== null && answer.ms <= ANSWER_MS;
  return isRefused
    ? []
    : [`F14: a write of a held row was answered ${answer.status} after ${seconds(answer.ms)}`];
}

async function untilWell(rig: Rig, after: string): Promise<void> {
  await until(`writes after ${after}`, 10_000, async () => (await writeOnce(rig, 'well')).status < 300);
}

/** Takes all free connections. The services must answer in time, and work again afterwards. */
async function takenConnections(rig: Rig, url: string): Promise<{ fact: string; violations: string[] }> {
  const taken: pg.Client[] = [];
  const violations: string[] = [];
  const statuses = new Map<number, number>();
  try {
    for (;;) {
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => undefined);
      const isIn = await client.connect().then(
        () => true,
        () => false,
      );
      if (!isIn) break;
      taken.push(client);
    }
    const end = performance.now() + 10_000;
    while (performance.now() < end) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => once(rig, 'GET', '/executions?_size=1')),
      );
      for (const { status, ms, text } of answers) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (![200, 503].includes(status))
          violations.push(`F14: without a free connection ${status}: ${text.slice(0, 200)}`);
        if (ms > ANSWER_MS) violations.push(`F14: without a free connection an answer took ${seconds(ms)}`);
      }
    }
  } finally {
    await Promise.all(taken.map((client) => client.end().catch(() => undefined)));
  }
  if (taken.length === 0) violations.push('floor: no connection was free to be taken');
  await untilWell(rig, 'connections were given back');
  return {
    fact: `${taken.length} taken; ${[...statuses].map(([s, n]) => `${n} x ${s}`).join(', ')}`,
    violations,
  };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

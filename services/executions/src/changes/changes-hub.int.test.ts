// Rings and hub without a service: slow readers, floods, failed reads, and two replicas.
import { join } from 'node:path';
import { createPostgresBroker } from '@baton/broker';
import {
  buildMessage,
  deploymentResourcesChanged,
  type Principal,
  type ResourceChange,
} from '@baton/contracts';
import type { StreamEvent } from '@baton/http';
import { AppError, newId, silentLog } from '@baton/kernel';
import { createDb, type Db } from '@baton/postgres';
import { eventually, testDatabase } from '@baton/testkit';
import type { DB } from '../store/tables.gen';
import { admin } from '../testing/http-rig';
import { recordedReads } from '../testing/recorded-statements';
import { createChangeRings } from './change-rings';
import { createChangesHub } from './changes-hub';
import { onChanges } from './messages/on-changes';
import { streamChanges } from './queries/stream-changes';
import { rememberedOwners } from './remembered-owners';

let database: Awaited<ReturnType<typeof testDatabase>>;
let db: Db<DB>;
beforeAll(async () => {
  database = await testDatabase({
    migrations: [{ schema: 'executions', dir: join(__dirname, '../../migrations') }],
  });
  db = createDb<DB>({ url: database.url, schema: 'executions', applicationName: 'hub-test', log: silentLog });
}, 60_000);
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const principal: Principal = { ...admin, tenant: 't' };
const KINDS = new Set(['executions', 'deployments', 'blueprints', 'plugins'] as const);
type Ask = Parameters<typeof rememberedOwners>[0];

function replica(o: { capacity?: number; lingerMs?: number; ask?: Ask; lifeMs?: number } = {}) {
  const rings = createChangeRings(o);
  // A real clock never returns 0; the cache library takes 0 for "no time".
  let nowMs = 1_000;
  const ask = jest.fn<ReturnType<Ask>, Parameters<Ask>>(
    o.ask ?? (async () => ({ createdBy: 'ann', visibility: 'tenant' })),
  );
  const owners = rememberedOwners(ask, () => nowMs);
  const reads = recordedReads(db);
  const hub = createChangesHub({ db: reads, rings, owners, log: silentLog });
  const abort = new AbortController();
  return {
    rings,
    hub,
    reads,
    ask,
    pass: (ms: number) => void (nowMs += ms),
    abort: () => abort.abort(),
    open(lastEventId: string | null = null) {
      const deps = { db: reads, rings, ...(o.lifeMs === undefined ? {} : { lifeMs: o.lifeMs }) };
      const wanted = { principal, kinds: KINDS, ids: null, lastEventId };
      return streamChanges(deps, wanted, abort.signal)[Symbol.asyncIterator]();
    },
    tell(...changes: Partial<ResourceChange>[]) {
      const all = changes.map(
        (one) =>
          ({
            kind: 'deployments',
            id: 'x',
            operation: 'changed',
            createdBy: 'ann',
            visibility: 'tenant',
            ...one,
          }) as ResourceChange,
      );
      const about = { tenant: 't', key: 't', time: '2026-01-01T00:00:00Z' };
      hub.told(buildMessage(deploymentResourcesChanged, about, { changes: all }));
    },
    stop() {
      abort.abort();
      hub.stop();
    },
  };
}
const next = async (stream: AsyncIterator<StreamEvent>) => (await stream.next()).value as StreamEvent;
const ids = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `d${from + i}` }));

test('a reader that is too slow is told so, and holds up nobody', async () => {
  const one = replica({ capacity: 50 });
  const [slow, quick] = [one.open(), one.open()];
  for (const stream of [slow, quick]) expect((await next(stream)).event).toBe('ready');
  for (let i = 0; i < 10; i++) {
    one.tell(...ids(i * 40, 40));
    for (let n = 0; n < 40; n++) expect((await next(quick)).data).toMatchObject({ id: `d${i * 40 + n}` });
  }
  expect((await next(slow)).event).toBe('reset');
  one.tell({ id: 'after' });
  for (const stream of [slow, quick]) expect((await next(stream)).data).toMatchObject({ id: 'after' });
  one.stop();
});

test('changes of one resource within a moment are one', async () => {
  const one = replica();
  const stream = one.open();
  await next(stream);
  one.tell({ id: 'a', operation: 'created' }, { id: 'b' });
  for (let i = 0; i < 50; i++) one.tell({ id: 'a' });
  expect((await next(stream)).data).toEqual({ kind: 'deployments', id: 'a', operation: 'created' });
  expect((await next(stream)).data).toEqual({ kind: 'deployments', id: 'b', operation: 'changed' });
  one.tell({ id: 'c' });
  expect((await next(stream)).data).toMatchObject({ id: 'c' });
  one.stop();
});

test('a flood is answered by reset and not by memory', async () => {
  const one = replica();
  const stream = one.open();
  await next(stream);
  one.tell(...ids(0, 20_001));
  expect((await next(stream)).event).toBe('reset');
  one.tell({ id: 'after' });
  expect((await next(stream)).data).toMatchObject({ id: 'after' });
  one.stop();
});

test('who may see a deployment is asked once, and again after a while', async () => {
  const one = replica();
  const stream = one.open();
  await next(stream);
  const unknown = { createdBy: undefined, visibility: undefined };
  for (let i = 0; i < 3; i++) {
    one.tell({ id: 'a', ...unknown });
    expect((await next(stream)).data).toMatchObject({ id: 'a' });
  }
  expect(one.ask).toHaveBeenCalledTimes(1);
  one.pass(31_000);
  one.tell({ id: 'a', ...unknown });
  await next(stream);
  expect(one.ask).toHaveBeenCalledTimes(2);
  // A change that carries its owner needs no request for the owner; the change of a deleted deployment neither.
  one.tell({ id: 'b' });
  await next(stream);
  one.tell({ id: 'b', ...unknown });
  await next(stream);
  expect(one.ask).toHaveBeenCalledTimes(2);
  one.stop();
});

test('when owners cannot be asked readers are told that they have missed something', async () => {
  const one = replica({ ask: async () => Promise.reject(new AppError('service_unavailable_error', 'away')) });
  const stream = one.open();
  await next(stream);
  one.tell({ id: 'a', createdBy: undefined, visibility: undefined });
  expect((await next(stream)).event).toBe('reset');
  one.stop();
});

test('a stream ends after its life, and its reader goes on where it was', async () => {
  const one = replica({ lifeMs: 1_500 });
  const stream = one.open();
  const ready = await next(stream);
  one.tell({ id: 'a' });
  const told = await next(stream);
  expect((await stream.next()).done).toBe(true);
  one.tell({ id: 'b' });
  const again = one.open(told.id!);
  expect(await next(again)).toEqual({ ...ready, id: told.id });
  expect((await next(again)).data).toMatchObject({ id: 'b' });
  one.stop();
});

test('a ring outlives its last reader for a moment only', async () => {
  const one = replica({ lingerMs: 50 });
  const stream = one.open();
  const { id } = await next(stream);
  await stream.return(undefined);
  expect(one.rings.isListening()).toBe(true);
  await eventually(() => expect(one.rings.isListening()).toBe(false));
  const again = one.open(id);
  expect((await next(again)).event).toBe('reset');
  one.stop();
});

test('where nobody listens nothing is read or kept, and a stream at rest costs no statement', async () => {
  const one = replica({ lingerMs: 10 });
  const listening = replica();
  const stream = listening.open();
  await next(stream);
  expect(listening.reads.take()).toHaveLength(1);
  const moved = Array.from({ length: 3 }, () => newId());
  for (const { hub } of [one, listening]) hub.moved(moved);
  one.tell({ id: 'a' });
  listening.tell({ id: 'a' });
  await next(stream);
  // Three executions need one statement; without readers there is none.
  expect(listening.reads.take()).toHaveLength(1);
  expect(one.reads.take()).toEqual([]);
  const waits = stream.next();
  listening.pass(600_000);
  await eventually(() => expect(listening.rings.isListening()).toBe(true));
  expect(listening.reads.take()).toEqual([]);
  listening.tell({ id: 'b' });
  expect((await waits).value.data).toMatchObject({ id: 'b' });
  expect(listening.reads.take()).toEqual([]);
  one.stop();
  listening.stop();
});

test('two replicas hear the same from the broker; one that lost it says so', async () => {
  const broker = createPostgresBroker({ url: database.url, log: silentLog });
  const far = createPostgresBroker({ url: database.url, log: silentLog });
  const [a, b] = [replica(), replica()];
  for (const [at, to] of [
    [broker, a],
    [far, b],
  ] as const)
    for (const { message, handler, onGap } of onChanges(to.hub, () => undefined))
      await at.subscribe(message, handler, onGap);
  const streams = [a.open(), b.open()];
  for (const stream of streams) await next(stream);
  const about = { tenant: 't', key: 't', time: '2026-01-01T00:00:00.000Z' };
  const change = {
    kind: 'plugins',
    id: 'p',
    operation: 'created',
    createdBy: 'ann',
    visibility: 'tenant',
  } as const;
  await broker.publish([buildMessage(deploymentResourcesChanged, about, { changes: [change] })]);
  for (const stream of streams)
    expect((await next(stream)).data).toEqual({ kind: 'plugins', id: 'p', operation: 'created' });
  await db.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'baton-broker-session' and datname = current_database()`,
  );
  for (const stream of streams) expect((await next(stream)).event).toBe('reset');
  a.stop();
  b.stop();
  await broker.close();
  await far.close();
}, 30_000);

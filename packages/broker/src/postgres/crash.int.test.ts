import { defineMessage, type Envelope } from '@baton/contracts';
import { newId, silentLog } from '@baton/kernel';
import { eventually, type TestDatabase, tcpProxy, testDatabase, testSignals } from '@baton/testkit';
import pg from 'pg';
import { z } from 'zod';
import { type Broker, createPostgresBroker } from '../index';
import { MAX_CRASHES } from '../topology';

const work = defineMessage('sample.work-arrived.v1', 'work', z.object({ n: z.number() }));
const topology = [{ message: work, queues: ['only'] }];
const envelope = (n: number): Envelope => ({
  id: newId(),
  type: work.type,
  time: '2026-01-01T00:00:00.000Z',
  tenant: 't',
  key: 'k',
  payload: { n },
});
let database: TestDatabase;
let admin: pg.Client;
const open: Broker[] = [];
const connect = (url = database.url): Broker => {
  const broker = createPostgresBroker({ url, log: silentLog, topology });
  open.push(broker);
  return broker;
};

beforeEach(async () => {
  database = await testDatabase({ migrations: [] });
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((broker) => broker.close()));
  await admin.end();
  await database.drop();
});

test('a message whose process went silent is handled by another within seconds; the first is told to stop', async () => {
  const target = new URL(database.url);
  const proxy = await tcpProxy({ host: target.hostname, port: Number(target.port) });
  const signals = testSignals();
  const dying = connect(proxy.through(database.url));
  await dying.consume(work, {
    queue: 'only',
    prefetch: 1,
    handler: async (_, signal) => {
      void signals.of('started').reached();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      void signals.of('aborted').reached();
    },
  });
  const living = connect();
  await living.publish([envelope(1)]);
  await signals.of('started').wait();
  const got: unknown[] = [];
  await living.consume(work, { queue: 'only', prefetch: 1, handler: async (e) => void got.push(e.payload) });
  proxy.refuse();
  await signals.of('aborted').wait();
  await eventually(() => expect(got).toEqual([{ n: 1 }]));
  proxy.heal();
  await eventually(async () => expect((await admin.query('select 1 from broker.messages')).rowCount).toBe(0));
  await proxy.close();
}, 20_000);

test('what is handed over is handled without a row; when its session is lost meanwhile it is stored and comes again', async () => {
  const target = new URL(database.url);
  const proxy = await tcpProxy({ host: target.hostname, port: Number(target.port) });
  const signals = testSignals();
  const dying = connect(proxy.through(database.url));
  const rows = async (): Promise<number | null> =>
    (await admin.query('select 1 from broker.messages')).rowCount;
  let rowsMeanwhile: number | null = null;
  const subscription = await dying.consume(work, {
    queue: 'only',
    prefetch: 1,
    handler: async ({ payload }, signal) => {
      rowsMeanwhile = await rows();
      if (payload.n === 0) return;
      void signals.of('started').reached();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      void signals.of('aborted').reached();
    },
  });
  // A consumer that is just looking for stored messages takes no others.
  await eventually(async () => {
    await dying.handOver([envelope(0)]);
    expect(rowsMeanwhile).toBe(0);
  });
  const handed = dying.handOver([envelope(1)]);
  await signals.of('started').wait();
  expect(rowsMeanwhile).toBe(0);
  proxy.refuse();
  await signals.of('aborted').wait();
  await subscription.close();
  proxy.heal();
  await handed;
  const got: unknown[] = [];
  await connect().consume(work, {
    queue: 'only',
    prefetch: 1,
    handler: async (e) => void got.push(e.payload),
  });
  await eventually(() => expect(got).toEqual([{ n: 1 }]));
  await proxy.close();
}, 30_000);

test('a message at whose delivery processes die again and again is parked', async () => {
  const broker = connect();
  await broker.ping();
  await broker.publish([envelope(1)]);
  // Owned by a session that does not exist; one crash below the limit.
  await admin.query('update broker.messages set owner = 1, crashes = $1', [MAX_CRASHES - 1]);
  const parked = await eventually(async () => {
    const [one] = await broker.listParked('only');
    if (!one) throw new Error('not parked');
    return one;
  });
  expect(parked).toMatchObject({ queue: 'only', type: work.type, envelope: { payload: { n: 1 } } });
  expect((await admin.query('select 1 from broker.messages')).rowCount).toBe(0);
});

test('many processes make the tables at the same time', async () => {
  await Promise.all(Array.from({ length: 5 }, () => connect().ping()));
});

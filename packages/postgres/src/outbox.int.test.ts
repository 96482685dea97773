import { join } from 'node:path';
import { defineMessage, type Envelope } from '@baton/contracts';
import { AppError, newId, silentLog } from '@baton/kernel';
import { eventually, setFakeNow, type TestDatabase, testDatabase, testSignals } from '@baton/testkit';
import { sql } from 'kysely';
import { z } from 'zod';
import {
  createDb,
  createInboxPurge,
  type Db,
  inbox,
  type OutboxRelay,
  outbox,
  outgoing,
  startOutboxRelay,
} from './index';

const fact = defineMessage('sample.fact-found.v1', 'work', z.object({ n: z.number() }));
const about = { tenant: 't', key: 'k' };
const dir = join(__dirname, '../test-migrations');
let database: TestDatabase;
let db: Db<unknown>;
const relays: OutboxRelay[] = [];

beforeAll(async () => {
  database = await testDatabase({ migrations: [{ schema: 'sample', dir }] });
  db = createDb({
    url: database.url,
    schema: 'sample',
    applicationName: 'test',
    log: silentLog,
    maxConnections: 6,
  });
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
  await sql`truncate outbox, inbox`.execute(db.query);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const relay = (publish: (envelopes: Envelope[]) => Promise<void>, from: Db<unknown> = db): OutboxRelay => {
  const made = startOutboxRelay({ db: from, publish, log: silentLog, pollMs: 50 });
  relays.push(made);
  return made;
};
const append = (...numbers: number[]): Promise<void> =>
  db.tx((tx) =>
    outbox.appendAll(
      tx,
      numbers.map((n) => outgoing(fact, about, { n })),
    ),
  );
const waiting = async (): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*) as n from outbox`.execute(db.query);
  return rows[0]?.n ?? -1;
};

test('a message leaves after the commit, whole, and not at all after a rollback', async () => {
  const sent: Envelope[] = [];
  relay(async (envelopes) => void sent.push(...envelopes));
  await db
    .tx(async (tx) => {
      await outbox.append(tx, fact, about, { n: 1 });
      throw new Error('no');
    })
    .catch(() => undefined);
  await db.tx((tx) =>
    outbox.append(tx, fact, { ...about, traceparent: '00-ab', causationId: 'c' }, { n: 2 }),
  );
  await eventually(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: fact.type,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    tenant: 't',
    key: 'k',
    traceparent: '00-ab',
    causationId: 'c',
    payload: { n: 2 },
  });
  await eventually(async () => expect(await waiting()).toBe(0));
});

test('the kick after the commit does not wait for the poll', async () => {
  const done = testSignals().of('sent');
  const made = startOutboxRelay({
    db,
    publish: async () => void done.reached(),
    log: silentLog,
    pollMs: 3_600_000,
  });
  relays.push(made);
  await append(1);
  await done.wait(1_000);
});

test('a payload that does not fit is refused in the transaction', async () => {
  const bad = db.tx((tx) => outbox.append(tx, fact, about, { n: 'one' } as unknown as { n: number }));
  await expect(bad).rejects.toThrow();
  expect(await waiting()).toBe(0);
});

test('many relays share the work: nothing twice, nothing lost', async () => {
  const counts = new Map<number, number>();
  const publish = async (envelopes: Envelope[]): Promise<void> => {
    for (const { payload } of envelopes as Envelope<{ n: number }>[])
      counts.set(payload.n, (counts.get(payload.n) ?? 0) + 1);
  };
  const second = createDb({
    url: database.url,
    schema: 'sample',
    applicationName: 'test',
    log: silentLog,
    maxConnections: 3,
  });
  const made = [relay(publish), relay(publish), relay(publish, second)];
  await append(...Array.from({ length: 1_000 }, (_, i) => i));
  await eventually(async () => expect(await waiting()).toBe(0));
  await Promise.all(made.map((one) => one.stop()));
  expect(counts.size).toBe(1_000);
  expect(new Set(counts.values())).toEqual(new Set([1]));
  await second.close();
});

test('what the broker does not confirm stays and goes out later', async () => {
  let isDown = true;
  let refusals = 0;
  let sent = 0;
  relay(async (envelopes) => {
    if (isDown) {
      refusals++;
      throw new AppError('service_unavailable_error', 'no broker');
    }
    sent += envelopes.length;
  });
  await append(1, 2, 3);
  await eventually(() => expect(refusals).toBeGreaterThan(1));
  expect(await waiting()).toBe(3);
  isDown = false;
  await eventually(async () => expect(await waiting()).toBe(0));
  expect(sent).toBe(3);
});

test('a message that the broker refuses for good stays behind and holds up no other', async () => {
  const sent: number[] = [];
  const publish = async (envelopes: Envelope[]): Promise<void> => {
    const numbers = (envelopes as Envelope<{ n: number }>[]).map((e) => e.payload.n);
    if (numbers.includes(13)) throw new AppError('internal_server_error', 'does not fit');
    sent.push(...numbers);
  };
  await append(12, 13, 14);
  const made = relay(publish);
  await eventually(async () => expect(await waiting()).toBe(1));
  await append(15);
  await eventually(() => expect([...sent].sort()).toEqual([12, 14, 15]));
  // The row of a message that was sent from memory is deleted after the confirmation.
  await eventually(async () => expect(await waiting()).toBe(1));
  // The refused message is paused for a while; a new relay (a restarted process) tries it once more.
  expect(await made.tickOnce()).toBe(0);
});

test('a relay that dies between publishing and commit sends again instead of losing', async () => {
  const sent: number[] = [];
  await append(1);
  let isFirst = true;
  relay(async (envelopes) => {
    sent.push(...(envelopes as Envelope<{ n: number }>[]).map((e) => e.payload.n));
    if (!isFirst) return;
    isFirst = false;
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`.execute(db.query);
  });
  await eventually(async () => expect(await waiting()).toBe(0));
  expect(sent).toEqual([1, 1]);
});

test('inbox.once is true for one of many, true again after a rollback, and apart for each consumer', async () => {
  const id = newId();
  const failed = db.tx(async (tx) => {
    expect(await inbox.once(tx, 'a', id)).toBe(true);
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  const seen = await Promise.all(Array.from({ length: 5 }, () => db.tx((tx) => inbox.once(tx, 'a', id))));
  expect(seen.filter(Boolean)).toHaveLength(1);
  expect(await db.tx((tx) => inbox.once(tx, 'b', id))).toBe(true);
});

test('the purge forgets what is older than its limit, and only that', async () => {
  await setFakeNow(db.pool, '2030-01-01T00:00:00Z');
  try {
    await db.tx((tx) => inbox.once(tx, 'a', newId()));
    await setFakeNow(db.pool, '2030-01-09T00:00:00Z');
    const young = newId();
    await db.tx((tx) => inbox.once(tx, 'a', young));
    expect(await createInboxPurge({ db }).tickOnce()).toBe(1);
    expect(await db.tx((tx) => inbox.once(tx, 'a', young))).toBe(false);
  } finally {
    await setFakeNow(db.pool, null);
  }
});

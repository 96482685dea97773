import { defineMessage, type Envelope } from '@baton/contracts';
import { AppError, newId, silentLog } from '@baton/kernel';
import { eventually, type TestDatabase, testDatabase, testSignals } from '@baton/testkit';
import { z } from 'zod';
import { type Broker, createPostgresBroker } from '../index';
import { createRelayedBroker } from './child';
import { relayBroker } from './parent';
import type { BrokerChannel } from './wire';

const work = defineMessage('sample.work-arrived.v1', 'work', z.object({ n: z.number() }));
const other = defineMessage('sample.other-arrived.v1', 'work', z.object({ n: z.number() }));
const fan = defineMessage('sample.all-told.v1', 'fanout', z.object({ n: z.number() }));
const topology = [
  { message: work, queues: ['child', 'strange'] },
  { message: other, queues: ['child'] },
  { message: fan, queues: [] },
];
const access = { consumes: [{ message: work, queue: 'child' }], subscribes: [fan], publishes: [work] };
const envelope = (type: string, n: number): Envelope => ({
  id: newId(),
  type,
  time: '2026-01-01T00:00:00.000Z',
  tenant: 't',
  key: 'k',
  payload: { n },
});

/** Both ends of a channel like that of a forked process: JSON, asynchronous, in order, until it is cut. */
function channelPair(): { parent: BrokerChannel; child: BrokerChannel; cut(): void } {
  let isOpen = true;
  const closed: (() => void)[] = [];
  const make = () => [] as ((message: unknown) => void)[];
  const [toParent, toChild] = [make(), make()];
  const end = (from: typeof toParent, to: typeof toParent): BrokerChannel => ({
    isOpen: () => isOpen,
    send: (message) => {
      const text = JSON.stringify(message);
      setImmediate(() => isOpen && to.forEach((receive) => receive(JSON.parse(text))));
    },
    onMessage: (receive) => void from.push(receive),
    onClose: (call) => void closed.push(call),
    close: () => undefined,
  });
  return {
    parent: end(toParent, toChild),
    child: end(toChild, toParent),
    cut: () => {
      isOpen = false;
      for (const call of closed) call();
    },
  };
}

let database: TestDatabase;
let broker: Broker;
let pair: ReturnType<typeof channelPair>;
let child: Broker;
beforeAll(async () => {
  database = await testDatabase({ migrations: [] });
});
beforeEach(async () => {
  broker = createPostgresBroker({ url: database.url, log: silentLog, topology, retryStepsMs: [10] });
  await eventually(() => broker.ping(), { deadlineMs: 10_000 });
  pair = channelPair();
  relayBroker(broker, pair.parent, access);
  child = createRelayedBroker(pair.child, silentLog);
});
afterEach(async () => {
  await child.close();
  await broker.close();
});
afterAll(() => database.drop());

test('a process without a broker of its own consumes, is told, and publishes', async () => {
  const got: unknown[] = [];
  await child.consume(work, {
    queue: 'child',
    prefetch: 2,
    handler: async ({ payload }) => void got.push(payload),
  });
  await child.subscribe(fan, ({ payload }) => void got.push({ told: payload }));
  await child.publish([envelope(work.type, 1)]);
  await broker.publish([envelope(fan.type, 2)]);
  await eventually(() => expect(got).toEqual(expect.arrayContaining([{ n: 1 }, { told: { n: 2 } }])));
});

test('what fails there is delivered again, and parked at once when it can never succeed', async () => {
  let tries = 0;
  const handler = async ({ payload }: Envelope<{ n: number }>) => {
    if (payload.n === 2) throw new AppError('not_found_error', 'no such thing');
    if (++tries < 3) throw new Error('not yet');
  };
  await child.consume(work, { queue: 'child', prefetch: 2, handler });
  await broker.publish([envelope(work.type, 1), envelope(work.type, 2)]);
  await eventually(() => expect(tries).toBe(3));
  const parked = await eventually(async () => {
    const all = await broker.listParked('child');
    return all.length > 0 && all;
  });
  expect(parked).toMatchObject([{ reason: 'not_found_error: no such thing', attempts: 1 }]);
});

test('what a process had under way when it died goes to the next one', async () => {
  const signals = testSignals();
  signals.of('handling').hold();
  await child.consume(work, { queue: 'child', prefetch: 1, handler: () => signals.of('handling').reached() });
  await broker.publish([envelope(work.type, 7)]);
  await signals.of('handling').wait();
  pair.cut();
  pair = channelPair();
  relayBroker(broker, pair.parent, access);
  child = createRelayedBroker(pair.child, silentLog);
  const got: number[] = [];
  await child.consume(work, {
    queue: 'child',
    prefetch: 1,
    handler: async (e) => void got.push(e.payload.n),
  });
  await eventually(() => expect(got).toEqual([7]));
  signals.of('handling').release();
});

test('it gets and sends what it may and nothing else', async () => {
  const handler = async (): Promise<void> => undefined;
  const forbidden = expect.objectContaining({ code: 'forbidden_error' });
  await expect(child.consume(work, { queue: 'strange', prefetch: 1, handler })).rejects.toEqual(forbidden);
  await expect(child.consume(other, { queue: 'child', prefetch: 1, handler })).rejects.toEqual(forbidden);
  await expect(child.subscribe(other, handler)).rejects.toEqual(forbidden);
  await expect(child.publish([envelope(work.type, 1), envelope(other.type, 1)])).rejects.toEqual(forbidden);
  await expect(child.listParked()).rejects.toEqual(forbidden);
});

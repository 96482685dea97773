import { defineMessage, type Envelope } from '@baton/contracts';
import { newId, silentLog } from '@baton/kernel';
import { eventually, type TestDatabase, testDatabase, testSignals } from '@baton/testkit';
import { z } from 'zod';
import { type Broker, createPostgresBroker } from '../index';
import { createBrokerRelay } from './broker-relay';
import type { BrokerChannel } from './relay-protocol';
import { createRelayedBroker } from './relayed-broker';

const work = defineMessage('sample.work-arrived.v1', 'work', z.object({ n: z.number() }));
const other = defineMessage('sample.other-arrived.v1', 'work', z.object({ n: z.number() }));
const fan = defineMessage('sample.all-told.v1', 'fanout', z.object({ n: z.number() }));
const topology = [
  { message: work, queues: ['only'] },
  { message: other, queues: ['only'] },
  { message: fan, queues: [] },
];
const envelope = (type: string, n: number): Envelope => ({
  id: newId(),
  type,
  time: '',
  tenant: 't',
  key: 'k',
  payload: { n },
});

/** Two ends of a channel that carries JSON, as one of processes does. */
function channelPair(): { parent: BrokerChannel; child: BrokerChannel; cut(): void } {
  let isOpen = true;
  const ends = [0, 1].map(() => ({ receive: [] as ((m: unknown) => void)[], closed: [] as (() => void)[] }));
  const end = (mine: number): BrokerChannel => ({
    isOpen: () => isOpen,
    send: (message) => {
      const text = JSON.stringify(message);
      setImmediate(() => isOpen && ends[1 - mine]!.receive.forEach((call) => void call(JSON.parse(text))));
    },
    onMessage: (call) => void ends[mine]!.receive.push(call),
    onClose: (call) => void ends[mine]!.closed.push(call),
    close: () => undefined,
  });
  const cut = (): void => {
    isOpen = false;
    for (const { closed } of ends) for (const call of closed) call();
  };
  return { parent: end(0), child: end(1), cut };
}

let database: TestDatabase;
let real: Broker;
beforeAll(async () => {
  database = await testDatabase({ migrations: [] });
  real = createPostgresBroker({ url: database.url, log: silentLog, topology });
}, 60_000);
afterAll(async () => {
  await real?.close();
  await database?.drop();
});

function connect(): { broker: Broker; cut(): void } {
  const pair = channelPair();
  createBrokerRelay(real, { consume: [work], subscribe: [fan], publish: [work] }).attach(pair.parent);
  return { broker: createRelayedBroker(pair.child), cut: pair.cut };
}

test('work and news go both ways; a delivery that fails comes again', async () => {
  const { broker } = connect();
  await broker.ping();
  const got: unknown[] = [];
  let tries = 0;
  const taking = await broker.consume(work, {
    queue: 'only',
    prefetch: 2,
    handler: async (message) => {
      if (++tries === 1) throw new Error('not this time');
      got.push(message.payload);
    },
  });
  const told: unknown[] = [];
  const listening = await broker.subscribe(fan, (message) => void told.push(message.payload));
  await broker.publish([envelope(work.type, 1)]);
  await real.publish([envelope(fan.type, 2)]);
  await eventually(() => expect([got, told]).toEqual([[{ n: 1 }], [{ n: 2 }]]), { deadlineMs: 10_000 });
  await listening.close();
  await taking.close();
}, 20_000);

test('what a process left unfinished when it died goes to another', async () => {
  const [dying, living] = [connect(), connect()];
  const signals = testSignals();
  await dying.broker.consume(work, {
    queue: 'only',
    prefetch: 1,
    handler: () => {
      void signals.of('started').reached();
      return new Promise(() => undefined);
    },
  });
  await real.publish([envelope(work.type, 3)]);
  await signals.of('started').wait();
  const got: unknown[] = [];
  const taking = await living.broker.consume(work, {
    queue: 'only',
    prefetch: 1,
    handler: async (message) => void got.push(message.payload),
  });
  dying.cut();
  await eventually(() => expect(got).toEqual([{ n: 3 }]), { deadlineMs: 15_000 });
  await expect(dying.broker.ping()).rejects.toMatchObject({ code: 'service_unavailable_error' });
  await taking.close();
}, 30_000);

test('messages that are not for such a process are refused both ways', async () => {
  const { broker } = connect();
  await expect(broker.publish([envelope(other.type, 4)])).rejects.toMatchObject({ code: 'forbidden_error' });
  const options = { queue: 'only', prefetch: 1, handler: async () => undefined };
  await expect(broker.consume(other, options)).rejects.toMatchObject({ code: 'forbidden_error' });
});

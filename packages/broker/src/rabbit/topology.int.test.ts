import { defineMessage, type Envelope } from '@baton/contracts';
import { isAppError, newId, silentLog } from '@baton/kernel';
import { eventually, tcpProxy, testNamespace, testUrls } from '@baton/testkit';
import { connect } from 'amqplib';
import { z } from 'zod';
import { type Broker, createRabbitBroker, type RabbitBrokerOptions } from '../index';
import { rabbitNames } from './names';

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
const open: Broker[] = [];
const openBroker = (options: RabbitBrokerOptions): Broker => {
  const broker = createRabbitBroker(options);
  open.push(broker);
  return broker;
};
afterEach(() => Promise.all(open.splice(0).map((broker) => broker.close())));

const settings = { url: testUrls.amqp(), log: silentLog, topology };

test('a queue that somebody deleted is made again before the publisher calls a message stored', async () => {
  const namespace = testNamespace();
  const broker = openBroker({ ...settings, namespace });
  await eventually(() => broker.ping(), { deadlineMs: 20_000 });
  const admin = await connect(testUrls.amqp());
  const channel = await admin.createChannel();
  const queue = rabbitNames(namespace).queue(work.type, 'only');
  await channel.deleteQueue(queue);
  await broker.publish([envelope(2), envelope(3)]);
  await eventually(async () => expect((await channel.checkQueue(queue)).messageCount).toBe(2));
  await admin.close();
});

test('a confirm that never comes is a retryable error, and the connection works again afterwards', async () => {
  const target = new URL(testUrls.amqp());
  const proxy = await tcpProxy({ host: target.hostname, port: Number(target.port || 5672) });
  const namespace = testNamespace();
  const broker = openBroker({ ...settings, url: proxy.through(testUrls.amqp()), namespace });
  await eventually(() => broker.ping(), { deadlineMs: 20_000 });
  const admin = await connect(testUrls.amqp());
  const channel = await admin.createChannel();
  const queue = rabbitNames(namespace).queue(work.type, 'only');
  proxy.dropAnswers();
  const lost = broker.publish([envelope(1)]).catch((e) => e);
  await eventually(async () => expect((await channel.checkQueue(queue)).messageCount).toBe(1));
  proxy.refuse();
  proxy.heal();
  expect(isAppError(await lost, 'service_unavailable_error')).toBe(true);
  await admin.close();
  await broker.publish([envelope(2)]);
  const got: number[] = [];
  await broker.consume(work, {
    queue: 'only',
    prefetch: 5,
    handler: async (e) => void got.push(e.payload.n),
  });
  // The first message was stored nevertheless: at least once.
  await eventually(() => expect(got).toContain(2));
  await broker.close();
  await proxy.close();
}, 20_000);

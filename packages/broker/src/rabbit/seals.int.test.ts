/** Sealed messages: genuine ones arrive; forged ones are parked or dropped, whoever put them into the broker. */
import {
  buildMessage,
  changeMade,
  credentialsChanged,
  type Envelope,
  executionFinished,
  executionRequested,
  type MessageType,
  type managerServices,
} from '@baton/contracts';
import { Secret, silentLog } from '@baton/kernel';
import { eventually, testNamespace, testUrls } from '@baton/testkit';
import { createSeals, derivedTrust, type Seals } from '@baton/trust';
import { type ConfirmChannel, connect } from 'amqplib';
import { type Broker, createRabbitBroker } from '../index';
import { rabbitNames } from './names';
import { SEAL_HEADER } from './sealing';

const key = new Secret('the internal key of this test');
const sealsAs = (name: (typeof managerServices)[number], of = key): Seals => {
  const { identity, bundle } = derivedTrust(name, of);
  return createSeals({ identityOf: (asked) => (asked === name ? identity : null), bundle });
};
const namespace = testNamespace();
const names = rabbitNames(namespace);
const refused: string[] = [];
const brokers = new Map<string, Broker>();
const as = (service: (typeof managerServices)[number]): Broker => {
  const known = brokers.get(service);
  if (known) return known;
  const broker = createRabbitBroker({
    url: testUrls.amqp(),
    log: silentLog,
    namespace,
    services: [service],
    seals: sealsAs(service),
    retryStepsMs: [10],
    onRefused: (type) => void refused.push(type),
  });
  brokers.set(service, broker);
  return broker;
};
let admin: Awaited<ReturnType<typeof connect>>;
let channel: ConfirmChannel;
beforeAll(async () => {
  admin = await connect(testUrls.amqp());
  channel = await admin.createConfirmChannel();
});
afterAll(async () => {
  await Promise.all([...brokers.values()].map((broker) => broker.close()));
  await admin.close();
});

const about = { tenant: 't', key: 'k', time: '2026-01-01T00:00:00.000Z' };
const finished = { executionId: 'e', deploymentId: 'd', workflowId: 'w', status: 'terminated' };
const change = {
  refTable: 'users',
  refId: 'u',
  refIdentifier: {},
  operation: 'delete' as const,
  username: 'somebody else',
  executionId: '',
  requestId: 'r',
  route: 'x',
};
/** Publishes directly to an exchange, like an attacker with the credentials of a service. */
async function put(exchange: string, envelope: Envelope, seal?: string, content = contentOf(envelope)) {
  const headers = seal === undefined ? {} : { [SEAL_HEADER]: seal };
  channel.publish(exchange, envelope.type, content, { messageId: envelope.id, type: envelope.type, headers });
  await channel.waitForConfirms();
}
const contentOf = (envelope: Envelope): Buffer => Buffer.from(JSON.stringify(envelope));

interface Case {
  type: MessageType<unknown>;
  payload: unknown;
  publisher: (typeof managerServices)[number];
  consumer: (typeof managerServices)[number];
}
const cases: Case[] = [
  { type: executionFinished, payload: finished, publisher: 'executions', consumer: 'executions' },
  { type: changeMade, payload: change, publisher: 'identity', consumer: 'cluster-status' },
];

test.each(cases)('$type.type: a genuine one is taken, forged ones are parked', async (o) => {
  const { type, payload, publisher, consumer } = o;
  const fact = (): Envelope => buildMessage(type, about, payload);
  const got: string[] = [];
  await as(consumer).consume(type, {
    queue: consumer,
    prefetch: 4,
    handler: async (envelope) => void got.push(envelope.id),
  });
  await as(publisher).publish([fact(), fact(), fact()]);
  await eventually(() => expect(got).toHaveLength(3));

  const exchange = names.work(publisher);
  const sealOf = (name: (typeof managerServices)[number], envelope: Envelope, of?: Secret): string =>
    sealsAs(name, of).sealAll(name, [contentOf(envelope)])[0]!;
  const [bare, strange, altered, borrowed] = [fact(), fact(), fact(), fact()];
  await put(exchange, bare);
  // The gateway does not publish this type.
  await put(exchange, strange, sealOf('gateway', strange));
  await put(exchange, altered, sealOf(publisher, altered), contentOf({ ...altered, tenant: 'another' }));
  // A genuine message, but of another type.
  const other = buildMessage(executionRequested, about, { executionId: 'e' });
  await put(exchange, { ...borrowed, id: other.id }, sealOf('executions', other), contentOf(other));
  const parked = await eventually(async () => {
    const all = await as(consumer).listParked(consumer);
    expect(all).toHaveLength(4);
    return all;
  });
  const reasons = parked.map(({ reason }) => reason);
  expect(reasons).toEqual(
    expect.arrayContaining([
      expect.stringContaining('gateway does not publish it'),
      expect.stringContaining('it has no seal'),
      expect.stringContaining('its seal is wrong'),
      // executions publishes both types.
      expect.stringContaining('is another message'),
    ]),
  );
  expect(refused.filter((one) => one === type.type).length).toBeGreaterThanOrEqual(3);
  expect(got).toHaveLength(3);
});

test('a seal stays with its message through retries, and through parking and replay', async () => {
  let failures = 0;
  let isBroken = true;
  const got: string[] = [];
  const broker = as('deployments');
  await broker.consume(executionRequested, {
    queue: 'deployments-latest-execution',
    prefetch: 1,
    handler: async ({ id }) => {
      if (isBroken) {
        failures++;
        throw new Error('not yet');
      }
      got.push(id);
    },
  });
  const fact = buildMessage(executionRequested, about, { executionId: 'e' });
  await as('executions').publish([fact]);
  const [parked] = await eventually(
    async () => {
      const all = await broker.listParked();
      expect(all).toHaveLength(1);
      return all;
    },
    { deadlineMs: 20_000 },
  );
  expect(parked).toMatchObject({ reason: expect.stringContaining('not yet'), attempts: failures });
  isBroken = false;
  await broker.replayParked(parked!.id);
  await eventually(() => expect(got).toEqual([fact.id]));
}, 40_000);

test('a forged word that credentials have changed is dropped, the word of identity is heard', async () => {
  const heard: string[] = [];
  await as('gateway').subscribe(credentialsChanged, ({ payload }) => void heard.push(payload.username));
  const told = (username: string): Envelope => buildMessage(credentialsChanged, about, { username });
  const exchange = names.fanout(credentialsChanged.type);
  const [bare, strange] = [told('bare'), told('strange')];
  await put(exchange, bare);
  await put(exchange, strange, sealsAs('catalog').sealAll('catalog', [contentOf(strange)])[0]);
  await as('identity').publish([told('genuine')]);
  await eventually(() => expect(heard).toEqual(['genuine']));
  expect(refused.filter((type) => type === credentialsChanged.type)).toHaveLength(2);
});

test('a service does not send what is not its to send', async () => {
  const forged = buildMessage(executionFinished, about, finished);
  await expect(as('catalog').publish([forged])).rejects.toThrow('this service does not send');
});

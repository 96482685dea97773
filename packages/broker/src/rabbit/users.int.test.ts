/** Users of services as an administrator creates them: each can do its own work, and reaches nothing of the others. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { managerServices } from '@baton/contracts';
import { notFound, Secret, silentLog } from '@baton/kernel';
import { type RestartableRabbit, restartableRabbit } from '@baton/testkit';
import { type Channel, type ConfirmChannel, connect } from 'amqplib';
import { describeBroker, sampleStepsMs, sampleTopology } from '../broker.contract';
import type { Broker } from '../index';
import { publishersOf, type Topology, topology } from '../topology';
import { rabbitDefinitions } from './definitions';
import { rabbitNames } from './names';
import { planTopology } from './plan';
import { createRabbitBroker } from './rabbit-broker';

interface Users {
  server: RestartableRabbit;
  urlOf(service: string): string;
}

/** A server with the complete topology, and a user for each service. */
async function serverWithUsers(
  of: Topology,
  services: readonly string[],
  stepsMs: readonly number[],
): Promise<Users> {
  const server = await restartableRabbit();
  const logins = services.map((service) => ({
    service,
    user: `baton-${service}`,
    password: new Secret(`password of ${service}`),
  }));
  const definitions = rabbitDefinitions({ vhost: '/', logins, topology: of, retryStepsMs: stepsMs });
  const file = join(server.folder, 'definitions.json');
  writeFileSync(file, JSON.stringify(definitions));
  // Imported twice: existing definitions stay.
  for (let i = 0; i < 2; i++) await server.control(['import_definitions', file]);
  return {
    server,
    urlOf: (service) => {
      const url = new URL(server.url);
      [url.username, url.password] = [`baton-${service}`, encodeURIComponent(`password of ${service}`)];
      return url.href;
    },
  };
}

/** One port over the brokers of three services: the senders, and the consumers of each queue. */
function ofThree(urlOf: Users['urlOf']): Broker {
  const as = (service: string): Broker =>
    createRabbitBroker({
      url: urlOf(service),
      log: silentLog,
      topology: sampleTopology,
      retryStepsMs: sampleStepsMs,
      services: [service],
      topologyMode: 'check',
    });
  const [sample, first, second] = [as('sample'), as('first'), as('second')];
  const all = [sample, first, second];
  return {
    publish: sample.publish,
    handOver: sample.handOver,
    subscribe: sample.subscribe,
    consume: (message, o) => (o.queue === 'first' ? first : second).consume(message, o),
    ping: async () => void (await Promise.all(all.map((broker) => broker.ping()))),
    close: async () => void (await Promise.all(all.map((broker) => broker.close()))),
    listParked: async (queue) =>
      (await Promise.all([first, second].map((broker) => broker.listParked(queue)))).flat(),
    replayParked: async (id) => {
      for (const broker of [first, second])
        if ((await broker.listParked()).some((parked) => parked.id === id)) return broker.replayParked(id);
      throw notFound('parked message', id);
    },
  };
}

describeBroker('RabbitMQ broker, a user a service', async () => {
  const { server, urlOf } = await serverWithUsers(
    sampleTopology,
    ['sample', 'first', 'second'],
    sampleStepsMs,
  );
  return { connect: () => ofThree(urlOf), restart: server.restart, close: server.close };
});

describe('what a user of a service may do', () => {
  const services = [...managerServices, 'worker'];
  const names = rabbitNames('baton');
  const plan = planTopology({ names, stepsMs: [1_000], expiry: {} }, topology);
  let users: Users;
  beforeAll(async () => {
    users = await serverWithUsers(topology, services, [1_000]);
  }, 90_000);
  afterAll(() => users.server.close());

  /** Returns the server's answer to each of `tries`, each on a separate channel. */
  async function answers(
    url: string,
    tries: ((channel: ConfirmChannel) => Promise<unknown>)[],
  ): Promise<string[]> {
    const connection = await connect(url);
    const said: string[] = [];
    for (const attempt of tries) {
      const channel = await connection.createConfirmChannel();
      const broken = new Promise<string>((resolve) =>
        channel.once('error', (error) => resolve(error.message)),
      );
      const done = attempt(channel).then(
        () => 'done',
        () => broken,
      );
      said.push(await Promise.race([done, broken]));
      if (said.at(-1) === 'done') await channel.close();
    }
    await connection.close();
    return said.map((text) => (text === 'done' ? text : (/ACCESS_REFUSED/.exec(text)?.[0] ?? text)));
  }
  const send = (exchange: string, key: string) => async (channel: ConfirmChannel) => {
    channel.publish(exchange, key, Buffer.from('{}'));
    await channel.waitForConfirms();
  };
  /** Returns those of `names` for which `attempt` is not refused. */
  async function allowed(
    url: string,
    all: readonly string[],
    attempt: (name: string) => (channel: ConfirmChannel) => Promise<unknown>,
  ): Promise<string[]> {
    const said = await answers(url, all.map(attempt));
    expect(said.filter((text) => text !== 'done' && text !== 'ACCESS_REFUSED')).toEqual([]);
    return all.filter((_, i) => said[i] === 'done').sort();
  }
  const exchanges = plan.exchanges.map(({ name }) => name);
  const queues = plan.queues.map(({ name }) => name);
  const get = (queue: string) => (channel: Channel) => channel.get(queue);
  const remove = (queue: string) => (channel: Channel) =>
    channel.deleteQueue(queue, { ifEmpty: true, ifUnused: true });

  test('the administrator reaches everything: the control', async () => {
    const { url } = users.server;
    expect(await allowed(url, exchanges, (name) => send(name, 'nowhere'))).toEqual([...exchanges].sort());
    expect(await allowed(url, queues, get)).toEqual([...queues].sort());
  });

  test.each(services)('%s', async (service) => {
    const url = users.urlOf(service);
    const isOf = (name: string) =>
      new RegExp(`\\.(work|back|retry|parked|queue)\\.${service}(\\.|$)`).test(name);
    const fans = topology.filter(
      (entry) => entry.message.delivery === 'fanout' && publishersOf(entry).includes(service),
    );
    const sends = [
      ...exchanges.filter(isOf),
      ...fans.map(({ message }) => names.fanout(message.type)),
    ].sort();
    expect(await allowed(url, exchanges, (name) => send(name, 'nowhere'))).toEqual(sends);
    // Only the server reads the service's delayed messages.
    const reads = queues.filter((name) => isOf(name) && !name.includes('.retry.')).sort();
    expect(await allowed(url, queues, get)).toEqual(reads);
    expect(await allowed(url, queues, remove)).toEqual([]);
    // Directly into a queue by its name, past all exchanges.
    expect(await allowed(url, queues, (name) => send('', name))).toEqual([]);
    const hears = topology.filter((entry) => entry.subscribers?.includes(service));
    const replica = names.replica(service, 'sample');
    const listen = (exchange: string) => async (channel: Channel) => {
      await channel.assertQueue(replica, { exclusive: true, autoDelete: true, durable: false });
      await channel.bindQueue(replica, exchange, '');
    };
    const heard = hears.map(({ message }) => names.fanout(message.type)).sort();
    expect(await allowed(url, exchanges, listen)).toEqual(heard);
  });

  test('what a service sends in the name of another finds no queue', async () => {
    const connection = await connect(users.urlOf('secrets'));
    const channel = await connection.createConfirmChannel();
    const returned: string[] = [];
    channel.on('return', (message) => returned.push(message.fields.routingKey));
    const types = topology.filter(({ queues: all }) => all.length > 0).map(({ message }) => message.type);
    for (const type of types)
      channel.publish(names.work('secrets'), type, Buffer.from('{}'), { mandatory: true });
    await channel.waitForConfirms();
    expect(returned.sort()).toEqual(types.filter((type) => type !== 'audit.change-made.v1').sort());
    await connection.close();
  });
});

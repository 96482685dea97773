import type { Log } from '@baton/kernel';
import type { TlsSource } from '@baton/tls';
import type { Seals } from '@baton/trust';
import type { ChannelModel } from 'amqplib';
import { type Catalogue, createCatalogue } from '../catalogue';
import type { Broker, Subscription } from '../port';
import { topology as allMessages, retryStepsMs, serviceOfQueue, type Topology } from '../topology';
import { assertNotInTransaction } from '../transaction-guard';
import { unavailable } from '../unavailable';
import { createLastingConnection, type LastingConnection } from './connection';
import { consumeQueue } from './consumer';
import type { TopologyMode } from './declare';
import { createFanout } from './fanout';
import { type RabbitNames, rabbitNames } from './names';
import { createParking } from './parked';
import type { Shape } from './plan';
import { createPublisher, type Publisher } from './publisher';
import { createSealing } from './sealing';

export interface RabbitBrokerOptions {
  /** `amqp://user:password@host:port/vhost`; the parameter `?unusedExpiryMs=<ms>` sets the option of that name. */
  url: string;
  /** Authorities to trust when `url` is `amqps:`; absent: the system's authorities. */
  trust?: TlsSource | null | undefined;
  log: Log;
  /** Prefix of every name on the server, default `baton`. */
  namespace?: string;
  /** Messages and consumers, default all of Baton's. */
  topology?: Topology;
  /** Delays after failed deliveries, default `retryStepsMs`. */
  retryStepsMs?: readonly number[];
  /**
   * Services of this process: it sends in their name and sees their parked messages. Default: all (the standalone, with one user
   * for all services).
   */
  services?: readonly string[];
  /** Default `declare`; `check` where an administrator has declared the topology and this user cannot. */
  topologyMode?: TopologyMode;
  /** Default null: messages are neither sealed nor checked. */
  seals?: Seals | null;
  /** Called when a message of this type was refused: parked, or dropped when it was a fanout. */
  onRefused?: (type: string) => void;
  /** Queues are deleted when unused for this long: for previews and tests. Default: never. */
  unusedExpiryMs?: number;
}

const PING_MS = 2_000;

/**
 * The broker over RabbitMQ: quorum queues, publisher confirms, delay queues for retries. It connects at once and reconnects for
 * ever. Publishing and consuming use separate connections, because the server may block a connection that publishes too fast.
 */
export function createRabbitBroker(options: RabbitBrokerOptions): Broker {
  const { log, trust } = options;
  const { url, unusedExpiryMs = options.unusedExpiryMs } = readUrl(options.url);
  const names = rabbitNames(options.namespace ?? 'baton');
  const shape: Shape = {
    names,
    stepsMs: options.retryStepsMs ?? retryStepsMs,
    expiry: unusedExpiryMs ? { 'x-expires': unusedExpiryMs } : {},
  };
  const catalogue = createCatalogue(options.topology ?? allMessages);
  const { services, topologyMode: mode = 'declare' } = options;
  const actsFor = (service: string): boolean => services?.includes(service) ?? true;
  const name = `${options.namespace ?? 'baton'} ${services?.join(' ') ?? 'all services'}`;
  const outgoing = createLastingConnection({ url, name: `${name} publish`, log, trust });
  const incoming = createLastingConnection({ url, name: `${name} consume`, log, trust });
  const { seals = null, onRefused = () => undefined } = options;
  const sealing = createSealing({ seals, catalogue, onRefused });
  const publisher = createPublisher({ connection: outgoing, catalogue, shape, mode, sealing, actsFor });
  const fanout = createFanout({
    connection: incoming,
    names,
    mode,
    sealing,
    service: services?.[0] ?? 'all',
    log,
  });
  const subscriptions = new Set<Subscription>();
  const parking = parkingOf(outgoing, { names, publisher, catalogue, actsFor });
  const publish: Broker['publish'] = (envelopes) => {
    assertNotInTransaction('publish');
    return publisher.publish(envelopes);
  };
  return {
    ...parking,
    ...fanout,
    publish,
    handOver: publish,
    consume: async (message, consumer) => {
      if (catalogue.addQueue(message, consumer.queue)) {
        log.warn({ messageType: message.type, queue: consumer.queue }, 'consumer is missing in the topology');
      }
      const subscription = await consumeQueue(
        { connection: incoming, publisher, shape, mode, catalogue, sealing, log },
        message,
        consumer,
      );
      subscriptions.add(subscription);
      return subscription;
    },
    ping: async () => {
      await Promise.all([outgoing.ready(PING_MS), incoming.ready(PING_MS)]);
    },
    close: async () => {
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
      await Promise.all([incoming.close(), outgoing.close()]);
    },
  };
}

/** Parked messages of the services of this process. */
function parkingOf(
  outgoing: LastingConnection,
  o: {
    names: RabbitNames;
    publisher: Publisher;
    catalogue: Catalogue;
    actsFor: (service: string) => boolean;
  },
): Pick<Broker, 'listParked' | 'replayParked'> {
  let live: ChannelModel | null = null;
  void outgoing.keep(async (connection) => {
    live = connection;
  });
  const consuming = () => o.catalogue.entries.flatMap(({ queues }) => queues.map(serviceOfQueue));
  return createParking({
    names: o.names,
    services: () => [...new Set(consuming().filter(o.actsFor))],
    publisher: o.publisher,
    withConnection: async (work) => {
      await outgoing.ready(PING_MS);
      if (!live) throw unavailable('not connected');
      return work(live);
    },
  });
}

/**
 * Reads our own parameter from the address. It is in the address so that code that only passes an address on passes the parameter
 * too.
 */
function readUrl(text: string): { url: string; unusedExpiryMs?: number } {
  const url = new URL(text);
  const expiry = Number(url.searchParams.get('unusedExpiryMs'));
  url.searchParams.delete('unusedExpiryMs');
  return { url: url.href, unusedExpiryMs: expiry > 0 ? expiry : undefined };
}

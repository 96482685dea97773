import type { Envelope } from '@baton/contracts';
import { isAppError, type Log, notFound } from '@baton/kernel';
import { postgresConnection, type TlsSource } from '@baton/tls';
import pg from 'pg';
import { type Catalogue, createCatalogue, readEnvelope, readJson } from '../catalogue';
import { createGaps } from '../gaps';
import type { Broker, ParkedMessage } from '../port';
import { topology as allMessages, retryStepsMs, type Topology } from '../topology';
import { assertNotInTransaction } from '../transaction-guard';
import { unavailable } from '../unavailable';
import { type ConsumerDeps, consumeQueue, type QueueConsumer } from './consumer';
import { createFanoutReader, splitFanout } from './fanout';
import { startReaper } from './reaper';
import { createSession, type Session } from './session';
import { type Statements, statements } from './statements';

export interface PostgresBrokerOptions {
  url: string;
  /** Authorities to trust where `sslmode` in the address asks for TLS. */
  trust?: TlsSource | null | undefined;
  log: Log;
  /** Schema of the tables and prefix of the notification channels, default `broker`. */
  schema?: string;
  /** Messages and consumers, default all of Baton's. */
  topology?: Topology;
  /** Delays after failed deliveries, default `retryStepsMs`. */
  retryStepsMs?: readonly number[];
  /** Connections besides the listening one, default 6. */
  maxConnections?: number;
}

const WAIT_FOR_CONNECTION_MS = 30_000;
const PING_MS = 2_000;
const MAX_LISTED = 1_000;
/**
 * Interval of the search for messages without a notification: delayed messages of a process that died before they were due, lost
 * notifications.
 */
const POLL_MS = 5_000;

/**
 * The broker in PostgreSQL, for installations without RabbitMQ: a table of messages, claimed in batches with SKIP LOCKED, woken by
 * NOTIFY. Any number of processes may use it; it creates its tables itself. Messages have no seals here: the one process that holds
 * all services writes the tables, and its workers send through it the messages that they may send (relay/parent.ts).
 */
export function createPostgresBroker(options: PostgresBrokerOptions): Broker {
  const { url, trust, log, schema = 'broker' } = options;
  const channels = { work: `${schema}_work`, fanout: `${schema}_fanout` };
  const sql = statements(schema, channels);
  const catalogue = createCatalogue(options.topology ?? allMessages);
  const pool = createPool(options);
  const publishing = createPool(options, 'on');
  const session = createSession({ url, trust, schema, channels: Object.values(channels), log });
  const reaper = startReaper({ pool, sql, log });
  const store = async (deliveries: readonly Delivery[]): Promise<void> => {
    if (deliveries.length === 0) return;
    await session.ready(WAIT_FOR_CONNECTION_MS);
    await storeAndNotify(publishing, sql, deliveries);
  };
  const consuming = createConsuming(
    { pool, session, sql, log, stepsMs: options.retryStepsMs ?? retryStepsMs },
    channels.work,
    catalogue,
  );

  return {
    consume: consuming.consume,
    subscribe: createSubscribing(session, channels.fanout, log),
    publish: async (envelopes) => {
      await store(deliveriesOf(catalogue, envelopes));
    },
    handOver: async (envelopes) => {
      const rest: Delivery[] = [];
      const taken: Promise<void>[] = [];
      for (const delivery of deliveriesOf(catalogue, envelopes)) {
        const { queue, envelope } = delivery;
        const isHandled = queue === null ? null : consuming.take(queue, envelope);
        if (isHandled) taken.push(isHandled.then((isDone) => (isDone ? undefined : store([delivery]))));
        else rest.push(delivery);
      }
      await Promise.all([store(rest), ...taken]);
    },
    // The session probes the server by itself.
    ping: () => session.ready(PING_MS),
    close: async () => {
      reaper.stop();
      await consuming.close();
      // Ends the lock of the session: unfinished messages are free for other consumers.
      await session.close();
      await Promise.all([pool.end(), publishing.end()]);
    },
    listParked: async (queue) => {
      const { rows } = await pool.query(sql.listParked, [queue ?? null, MAX_LISTED]);
      return rows.map(describeParked);
    },
    replayParked: async (id) => {
      const isId = /^[0-9a-f-]{36}$/i.test(id);
      const done = isId ? await publishing.query(sql.replay, [id]) : null;
      if (!done?.rowCount) throw notFound('parked message', id);
    },
  };
}

/** The consumers of this process, woken by notifications that name their queue. */
function createConsuming(
  deps: ConsumerDeps,
  channel: string,
  catalogue: Catalogue,
): {
  consume: Broker['consume'];
  /** Lets a consumer of the queue handle the message without storing it; null: no consumer of this process takes it. */
  take(queue: string, envelope: Envelope): Promise<boolean> | null;
  close(): Promise<void>;
} {
  const consumers = new Map<string, Set<QueueConsumer>>();
  const kick = (queue: string): void => {
    for (const consumer of consumers.get(queue) ?? []) consumer.kick();
  };
  deps.session.onNotification(channel, kick);
  deps.session.onConnect(() => {
    for (const queue of consumers.keys()) kick(queue);
  });
  const poll = async (): Promise<void> => {
    if (consumers.size === 0) return;
    const { rows } = await deps.pool.query<{ queue: string }>({
      ...deps.sql.waiting,
      values: [[...consumers.keys()]],
    });
    for (const { queue } of rows) kick(queue);
  };
  const timer = setInterval(
    () => void poll().catch((error: Error) => deps.log.debug({ error: error.message }, 'poll failed')),
    POLL_MS,
  ).unref();
  return {
    consume: async (message, options) => {
      if (catalogue.addQueue(message, options.queue)) {
        deps.log.warn(
          { messageType: message.type, queue: options.queue },
          'consumer is missing in the topology',
        );
      }
      await untilReady(deps.session);
      const queue = `${message.type}/${options.queue}`;
      const made = consumeQueue(deps, queue, message, options);
      consumers.set(queue, (consumers.get(queue) ?? new Set()).add(made));
      return {
        close: async () => {
          consumers.get(queue)?.delete(made);
          await made.close();
        },
      };
    },
    take: (queue, envelope) => handTo(consumers.get(queue) ?? [], envelope),
    close: async () => {
      clearInterval(timer);
      await Promise.all(
        [...consumers.values()].flatMap((set) => [...set].map((consumer) => consumer.close())),
      );
    },
  };
}

/** The first consumer with room handles the message; null: none has room. */
function handTo(consumers: Iterable<QueueConsumer>, envelope: Envelope): Promise<boolean> | null {
  for (const consumer of consumers) {
    const isHandled = consumer.take(envelope);
    if (isHandled) return isHandled;
  }
  return null;
}

/** The fanout subscribers of this process. */
function createSubscribing(session: Session, channel: string, log: Log): Broker['subscribe'] {
  const receivers = new Map<string, Set<(raw: unknown) => Promise<void>>>();
  const read = createFanoutReader();
  const gaps = createGaps();
  session.onNotification(channel, (payload) => {
    const text = read(payload);
    if (text !== null) void deliverFanout(receivers, text, log);
  });
  session.onConnect(gaps.connected);
  return async (message, handler, onGap) => {
    const receive = async (raw: unknown): Promise<void> => handler(readEnvelope(message, raw));
    await untilReady(session);
    gaps.add(onGap);
    receivers.set(message.type, (receivers.get(message.type) ?? new Set()).add(receive));
    return {
      close: async () => {
        gaps.remove(onGap);
        receivers.get(message.type)?.delete(receive);
      },
    };
  };
}

/**
 * Default without synchronous commit: when claims and acknowledgements are lost in a crash of the server, a message is only
 * delivered again.
 */
function createPool(
  { url, trust, maxConnections = 6, log }: PostgresBrokerOptions,
  synchronousCommit: 'on' | 'off' = 'off',
): pg.Pool {
  const pool = new pg.Pool({
    ...postgresConnection(url, trust),
    max: Math.max(
      1,
      synchronousCommit === 'on' ? Math.ceil(maxConnections / 3) : Math.floor((maxConnections * 2) / 3),
    ),
    application_name: 'baton-broker',
    options: `-c synchronous_commit=${synchronousCommit} -c statement_timeout=30000 -c idle_in_transaction_session_timeout=30000`,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
  });
  pool.on('error', (error) => log.debug({ error: error.message }, 'idle broker connection lost'));
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

async function untilReady(session: { ready(timeoutMs: number): Promise<void> }): Promise<void> {
  for (;;) {
    try {
      return await session.ready(WAIT_FOR_CONNECTION_MS);
    } catch (error) {
      if (isAppError(error) && error.message.endsWith('closed')) throw error;
    }
  }
}

/** One message for one queue, or (`queue` null) for all subscribers. */
interface Delivery {
  envelope: Envelope;
  queue: string | null;
}

/** @throws AppError before anything is sent: inside a transaction, or when a message does not fit its schema. */
function deliveriesOf(catalogue: Catalogue, envelopes: readonly Envelope[]): Delivery[] {
  assertNotInTransaction('publish');
  return envelopes.flatMap((envelope): Delivery[] => {
    const { message, queues } = catalogue.check(envelope);
    if (message.delivery === 'fanout') return [{ envelope, queue: null }];
    return queues.map((queue) => ({ envelope, queue: `${envelope.type}/${queue}` }));
  });
}

async function storeAndNotify(
  pool: pg.Pool,
  sql: Statements,
  deliveries: readonly Delivery[],
): Promise<void> {
  const queues: string[] = [];
  const bodies: string[] = [];
  const parts: string[] = [];
  for (const { envelope, queue } of deliveries) {
    if (queue === null) parts.push(...splitFanout(envelope));
    else {
      queues.push(queue);
      bodies.push(JSON.stringify(envelope));
    }
  }
  try {
    if (queues.length > 0)
      await pool.query({ ...sql.publish, values: [queues, bodies, [...new Set(queues)]] });
    if (parts.length > 0) await pool.query({ ...sql.notify, values: [parts] });
  } catch (error) {
    throw unavailable((error as Error).message, error);
  }
}

/** Never rejects: any user that may notify could send anything, and no caller waits for this. */
async function deliverFanout(
  receivers: Map<string, Set<(raw: unknown) => Promise<void>>>,
  text: string,
  log: Log,
): Promise<void> {
  let envelope: Envelope | null;
  try {
    envelope = readJson('fanout', text) as Envelope | null;
  } catch (error) {
    log.error({ error }, 'fanout message is not JSON');
    return;
  }
  if (typeof envelope?.type !== 'string') return void log.error({}, 'fanout message is not an envelope');
  for (const receive of [...(receivers.get(envelope.type) ?? [])]) {
    try {
      await receive(envelope);
    } catch (error) {
      log.error({ messageType: envelope.type, error }, 'subscriber failed');
    }
  }
}

interface ParkedRow {
  id: string;
  queue: string;
  envelope: unknown;
  reason: string;
  attempts: number;
  parked_at: string;
}

function describeParked(row: ParkedRow): ParkedMessage {
  const [type = '', queue = ''] = row.queue.split('/');
  return {
    id: row.id,
    type,
    queue,
    reason: row.reason,
    attempts: row.attempts,
    parkedAt: row.parked_at,
    envelope: row.envelope,
  };
}

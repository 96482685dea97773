import type { Envelope } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { ConfirmChannel, Options } from 'amqplib';
import type { Catalogue } from '../catalogue';
import { publishersOf, type TopologyEntry } from '../topology';
import { unavailable } from '../unavailable';
import type { LastingConnection, SetUp } from './connection';
import { declareTopology, type TopologyMode } from './declare';
import type { Shape } from './plan';
import { SEAL_HEADER, type Sealing } from './sealing';

/** Number of messages sent before the first of their confirms is awaited. */
const WINDOW = 500;
const WAIT_FOR_CONNECTION_MS = 30_000;
const WAIT_FOR_CONFIRM_MS = 30_000;

export interface RawMessage {
  exchange: string;
  routingKey: string;
  content: Buffer;
  options: Options.Publish;
}

export interface Publisher {
  publish(envelopes: readonly Envelope[]): Promise<void>;
  /** Resolves when all are confirmed. @throws AppError service_unavailable_error. */
  send(messages: readonly RawMessage[]): Promise<void>;
}

interface Outlet {
  channel: ConfirmChannel;
  /** Ids of messages that were returned because no queue took them. */
  returned: Set<string>;
  /** Rejects calls that wait for confirms, when no confirms can come any more. */
  failures: Set<(error: Error) => void>;
}

export function createPublisher(deps: {
  connection: LastingConnection;
  catalogue: Catalogue;
  shape: Shape;
  mode: TopologyMode;
  sealing: Sealing;
  /** Whether this process may send as a service. */
  actsFor: (service: string) => boolean;
}): Publisher {
  const { connection, catalogue, shape, mode } = deps;
  let outlet: Outlet | null = null;
  const setUp: SetUp = async (model, drop) => {
    const opened = await openOutlet(await model.createConfirmChannel(), drop);
    if (mode === 'declare') await declareTopology(opened.channel, shape, catalogue.entries);
    outlet = opened;
    opened.channel.on('close', () => {
      if (outlet === opened) outlet = null;
    });
  };
  const kept = connection.keep(setUp);
  kept.catch(() => undefined);

  const current = async (): Promise<Outlet> => {
    await connection.ready(WAIT_FOR_CONNECTION_MS);
    if (!outlet) throw unavailable('channel closed');
    return outlet;
  };
  const send = async (messages: readonly RawMessage[]): Promise<void> => {
    for (let i = 0; i < messages.length; i += WINDOW)
      await sendWindow(await current(), messages.slice(i, i + WINDOW));
  };

  return {
    send,
    publish: async (envelopes) => {
      const messages = encodeAll(deps, envelopes);
      const work = messages.filter((message) => message.options.persistent);
      const fanout = messages.filter((message) => !message.options.persistent);
      try {
        await send(work);
      } catch (error) {
        if (!(error instanceof UnroutableError)) throw error;
        if (mode === 'check') throw unavailable('an administrator has to declare its queues', error);
        // A queue was deleted while we were connected.
        await declareTopology((await current()).channel, shape, catalogue.entries);
        await send(work.filter((message) => error.ids.has(message.options.messageId as string)));
      }
      if (fanout.length === 0) return;
      const { channel } = await current();
      for (const message of fanout)
        channel.publish(message.exchange, message.routingKey, message.content, message.options);
    },
  };
}

type EncodeDeps = Pick<Parameters<typeof createPublisher>[0], 'catalogue' | 'shape' | 'sealing' | 'actsFor'>;

/** @throws AppError internal_server_error, for the first message that must not be sent. */
function encodeAll(
  { catalogue, shape, sealing, actsFor }: EncodeDeps,
  envelopes: readonly Envelope[],
): RawMessage[] {
  const sealed = new Map<string, RawMessage[]>();
  const messages = envelopes.map((envelope) => {
    const entry = catalogue.check(envelope);
    const publisher = publishersOf(entry).find(actsFor);
    if (publisher === undefined)
      throw new AppError('internal_server_error', `this service does not send ${envelope.type}`);
    const message = encode(shape, entry, envelope, publisher);
    if (entry.seal) sealed.set(publisher, [...(sealed.get(publisher) ?? []), message]);
    return message;
  });
  for (const [publisher, batch] of sealed) {
    const seals = sealing.sealAll(
      publisher,
      batch.map(({ content }) => content),
    );
    batch.forEach(({ options }, i) => {
      if (seals) options.headers = { [SEAL_HEADER]: seals[i] };
    });
  }
  return messages;
}

function encode({ names }: Shape, entry: TopologyEntry, envelope: Envelope, publisher: string): RawMessage {
  const isWork = entry.message.delivery === 'work';
  return {
    exchange: isWork ? names.work(publisher) : names.fanout(envelope.type),
    routingKey: envelope.type,
    content: Buffer.from(JSON.stringify(envelope)),
    options: {
      persistent: isWork,
      mandatory: isWork && entry.queues.length > 0,
      messageId: envelope.id,
      type: envelope.type,
      contentType: 'application/json',
    },
  };
}

/** No queue took some of the messages; the others are stored. */
class UnroutableError extends Error {
  readonly ids: ReadonlySet<string>;
  constructor(ids: ReadonlySet<string>) {
    super(`${ids.size} messages found no queue`);
    this.ids = ids;
  }
}

function openOutlet(channel: ConfirmChannel, drop: (reason: string) => void): Outlet {
  const outlet: Outlet = { channel, returned: new Set(), failures: new Set() };
  channel.on('return', (message) => outlet.returned.add(message.properties.messageId as string));
  channel.on('error', (error) => drop(`publishing channel: ${error.message}`));
  channel.on('close', () => {
    for (const fail of [...outlet.failures]) fail(unavailable('connection lost before the confirm'));
    drop('publishing channel closed');
  });
  return outlet;
}

function sendWindow(outlet: Outlet, messages: readonly RawMessage[]): Promise<void> {
  if (messages.length === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    let missing = messages.length;
    let refusal: Error | null = null;
    const settle = (error: Error | null): void => {
      clearTimeout(late);
      outlet.failures.delete(settle);
      if (error) reject(error);
      else resolve();
    };
    const late = setTimeout(() => settle(unavailable('no confirm in time')), WAIT_FOR_CONFIRM_MS);
    outlet.failures.add(settle);
    const unroutable = new Set<string>();
    const confirmed = (id: string | undefined) => (error: unknown) => {
      // RabbitMQ sends the return of a message before its confirm.
      if (id !== undefined && outlet.returned.delete(id)) unroutable.add(id);
      if (error) refusal = unavailable('a queue is full', error);
      if (--missing === 0) settle(refusal ?? (unroutable.size > 0 ? new UnroutableError(unroutable) : null));
    };
    try {
      for (const { exchange, routingKey, content, options } of messages) {
        outlet.channel.publish(exchange, routingKey, content, options, confirmed(options.messageId));
      }
    } catch (error) {
      settle(unavailable('connection lost', error));
    }
  });
}

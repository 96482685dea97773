import type { Envelope, MessageType } from '@baton/contracts';
import { isoInstant, type Log, newId, systemClock } from '@baton/kernel';
import type { Channel, ConsumeMessage } from 'amqplib';
import { type Catalogue, readEnvelope, readJson } from '../catalogue';
import { decideFailure } from '../delivery';
import { createInFlight } from '../in-flight';
import type { ConsumeOptions, Subscription } from '../port';
import { serviceOfQueue } from '../topology';
import { atMost } from './at-most';
import type { LastingConnection } from './connection';
import { declareTopology, type TopologyMode } from './declare';
import type { Shape } from './plan';
import type { Publisher } from './publisher';
import { type Sealing, sealOf } from './sealing';

const DRAIN_MS = 10_000;

export interface ConsumerDeps {
  connection: LastingConnection;
  publisher: Publisher;
  shape: Shape;
  mode: TopologyMode;
  catalogue: Catalogue;
  sealing: Sealing;
  log: Log;
}

/** Headers of a message that failed before or is parked. */
export interface FailureHeaders {
  'x-baton-attempts'?: number;
  'x-baton-queue'?: string;
  'x-baton-reason'?: string;
  'x-baton-parked-at'?: string;
}

/** Consumes one queue on a separate channel, again on every new connection. */
export async function consumeQueue<T>(
  deps: ConsumerDeps,
  message: MessageType<T>,
  options: ConsumeOptions<T>,
): Promise<Subscription> {
  const inFlight = createInFlight();
  const log = deps.log.child({ queue: options.queue, messageType: message.type });
  let stopDelivery = async (): Promise<void> => undefined;
  let closeChannel = async (): Promise<void> => undefined;
  let isClosing = false;

  const forget = await deps.connection.keep(async (model, drop) => {
    const channel = await model.createChannel();
    channel.on('error', (error) => drop(`consuming channel: ${error.message}`));
    channel.on('close', () => {
      if (isClosing) return;
      inFlight.abortAll('the connection to the broker is lost');
      drop('consuming channel closed');
    });
    const queue = await openQueue(channel, deps, message.type, options.queue);
    await channel.prefetch(options.prefetch);
    const receive = (delivery: ConsumeMessage | null): void => {
      // The server cancelled the consumer: the queue was deleted or moved.
      if (delivery === null) return drop('consumer cancelled by the server');
      if (isClosing) return;
      void inFlight.run((signal) => handle(deps, log, channel, queue, message, options, delivery, signal));
    };
    const { consumerTag } = await channel.consume(queue, receive);
    stopDelivery = () => channel.cancel(consumerTag).then(() => undefined);
    closeChannel = () => channel.close();
  });

  return {
    close: async () => {
      if (isClosing) return;
      forget();
      // Deliveries that arrive after this are given back when the channel closes.
      isClosing = true;
      await atMost(stopDelivery());
      await inFlight.drain(DRAIN_MS);
      await atMost(closeChannel());
    },
  };
}

/** Returns the name of the queue, which exists from now on. @throws when an administrator has not created it yet. */
async function openQueue(
  channel: Channel,
  { shape, mode, catalogue }: ConsumerDeps,
  type: string,
  queue: string,
): Promise<string> {
  const name = shape.names.queue(type, queue);
  if (mode === 'check') await channel.checkQueue(name);
  else await declareTopology(channel, shape, [{ ...catalogue.entryOf(type)!, queues: [queue] }]);
  return name;
}

/** Handles one delivery. A crash anywhere in here leaves it unacknowledged: the broker delivers it again. */
async function handle<T>(
  deps: ConsumerDeps,
  log: Log,
  channel: Channel,
  queue: string,
  message: MessageType<T>,
  options: ConsumeOptions<T>,
  delivery: ConsumeMessage,
  signal: AbortSignal,
): Promise<void> {
  try {
    deps.sealing.check(message.type, delivery);
    const raw = readJson(message.type, delivery.content.toString('utf8'));
    const envelope: Envelope<T> = readEnvelope(message, raw);
    await options.handler(envelope, signal);
  } catch (error) {
    if (signal.aborted) return;
    try {
      await passOn(deps, log, { name: queue, service: serviceOfQueue(options.queue) }, delivery, error);
    } catch (failure) {
      // The message could be neither delayed nor parked: it goes back to the queue at once, and the queue counts the delivery.
      log.warn({ error: (failure as Error).message }, 'failed message could not be passed on');
      return settle(() => channel.nack(delivery));
    }
  }
  settle(() => channel.ack(delivery));
}

function settle(send: () => void): void {
  try {
    send();
  } catch {
    // The channel is closed; the message is delivered again, and the consumer's inbox recognizes it.
  }
}

/** Returns the number of failed deliveries; a publisher could write anything into this header. */
function failuresOf({ properties }: ConsumeMessage): number {
  const count = (properties.headers as FailureHeaders | undefined)?.['x-baton-attempts'];
  return Number.isSafeInteger(count) && count! >= 0 ? count! : 0;
}

async function passOn(
  deps: ConsumerDeps,
  log: Log,
  queue: { name: string; service: string },
  delivery: ConsumeMessage,
  error: unknown,
): Promise<void> {
  const attempts = failuresOf(delivery) + 1;
  const decision = decideFailure(error, attempts, deps.shape.stepsMs);
  const { content, properties } = delivery;
  const options = {
    persistent: true,
    messageId: properties.messageId,
    type: properties.type,
    contentType: properties.contentType,
    mandatory: true,
  };
  const seal = sealOf(properties);
  const messageId = properties.messageId as string;
  if (decision.kind === 'retry') {
    log.warn(
      { messageId, attempts, delayMs: decision.delayMs, error },
      'message failed, will be delivered again',
    );
    const exchange = deps.shape.names.retry(queue.service, decision.delayMs);
    await deps.publisher.send([
      {
        exchange,
        routingKey: queue.name,
        content,
        options: { ...options, headers: { ...seal, 'x-baton-attempts': attempts } },
      },
    ]);
    return;
  }
  log.error({ messageId, attempts, reason: decision.reason, error }, 'message parked');
  const parked = {
    ...seal,
    'x-baton-attempts': attempts,
    'x-baton-queue': queue.name,
    'x-baton-reason': decision.reason,
    'x-baton-parked-at': isoInstant(systemClock.now()),
  };
  const park = {
    exchange: deps.shape.names.back(queue.service),
    routingKey: deps.shape.names.parked(queue.service),
    content,
    options: { ...options, correlationId: newId(), headers: parked },
  };
  await deps.publisher.send([park]);
}

import { isoInstant, notFound, systemClock } from '@baton/kernel';
import type { ChannelModel, GetMessage } from 'amqplib';
import type { Broker, ParkedMessage } from '../port';
import type { FailureHeaders } from './consumer';
import type { RabbitNames } from './names';
import type { Publisher, RawMessage } from './publisher';
import { sealOf } from './sealing';

const MAX_LISTED = 1_000;
const kept = { persistent: true, mandatory: true };

/** A message without its exchange: it goes through the exchange of its service. */
type Redirected = Omit<RawMessage, 'exchange'>;

/** Reads the queues of parked messages, one per service: each message is taken, put back at the end and only then acknowledged. */
export function createParking(deps: {
  withConnection: <T>(work: (connection: ChannelModel) => Promise<T>) => Promise<T>;
  publisher: Publisher;
  names: RabbitNames;
  /** Services whose parked messages this process may see. */
  services: () => readonly string[];
}): Pick<Broker, 'listParked' | 'replayParked'> {
  const { publisher, names } = deps;

  /**
   * Visits all parked messages; each goes to the destination of `redirect`, else back. After a crash, one message may exist twice.
   */
  const rotate = (redirect: (parked: ParkedMessage, raw: GetMessage) => Redirected | null): Promise<void> =>
    deps.withConnection(async (connection) => {
      const channel = await connection.createChannel();
      try {
        for (const service of deps.services()) {
          const queue = names.parked(service);
          const { messageCount } = await channel.checkQueue(queue);
          for (let i = 0; i < Math.min(messageCount, MAX_LISTED); i++) {
            const raw = await channel.get(queue);
            if (!raw) break;
            const parked = describe(raw);
            const way = redirect(parked, raw) ?? putBack(parked, raw, queue);
            await publisher.send([{ ...way, exchange: names.back(service) }]);
            channel.ack(raw);
          }
        }
      } finally {
        await channel.close();
      }
    });

  return {
    listParked: async (queue) => {
      const found = new Map<string, ParkedMessage>();
      await rotate((parked) => {
        if (queue === undefined || parked.queue === queue) found.set(parked.id, parked);
        return null;
      });
      return [...found.values()].sort((a, b) => (a.parkedAt < b.parkedAt ? -1 : 1));
    },
    replayParked: async (id) => {
      let isFound = false;
      await rotate((parked, raw) => {
        if (parked.id !== id) return null;
        isFound = true;
        const { messageId, type, contentType } = raw.properties;
        return {
          routingKey: physicalQueue(raw),
          content: raw.content,
          options: { ...kept, messageId, type, contentType, headers: sealOf(raw.properties) },
        };
      });
      if (!isFound) throw notFound('parked message', id);
    },
  };
}

/**
 * Returns the original queue of a parked message. When a message crashed its consumers, the server moved it here and named its
 * queue in its own header.
 */
function physicalQueue(raw: GetMessage): string {
  const headers = (raw.properties.headers ?? {}) as FailureHeaders & { 'x-death'?: { queue: string }[] };
  // The last death comes first; an earlier one may be of a retry queue.
  return headers['x-baton-queue'] ?? headers['x-death']?.[0]?.queue ?? '';
}

function describe(raw: GetMessage): ParkedMessage {
  const headers = (raw.properties.headers ?? {}) as FailureHeaders;
  const type = String(raw.properties.type);
  const physical = physicalQueue(raw);
  return {
    id: String(raw.properties.correlationId ?? `${raw.properties.messageId}:${physical}`),
    type,
    queue: physical.slice(physical.lastIndexOf('.') + 1),
    reason: headers['x-baton-reason'] ?? 'its consumers died with it too often',
    attempts: headers['x-baton-attempts'] ?? 0,
    parkedAt: headers['x-baton-parked-at'] ?? isoInstant(systemClock.now()),
    envelope: readJson(raw.content),
  };
}

/** The message with its headers, to be parked again unchanged. */
function putBack(parked: ParkedMessage, raw: GetMessage, queue: string): Redirected {
  const headers = {
    ...sealOf(raw.properties),
    'x-baton-attempts': parked.attempts,
    'x-baton-queue': physicalQueue(raw),
    'x-baton-reason': parked.reason,
    'x-baton-parked-at': parked.parkedAt,
  };
  const { messageId, type, contentType } = raw.properties;
  const options = { ...kept, messageId, type, contentType, correlationId: parked.id, headers };
  return { routingKey: queue, content: raw.content, options };
}

function readJson(content: Buffer): unknown {
  const text = content.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    // Parked for exactly this reason: shown as it is.
    return text;
  }
}

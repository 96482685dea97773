import type { Envelope, MessageType } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { Topology, TopologyEntry } from './topology';

/** Looks up entries of a topology and checks messages against them. */
export interface Catalogue {
  /** @throws AppError internal_server_error for an unknown type, an invalid envelope, or a payload that does not fit its schema. */
  check(envelope: Envelope): TopologyEntry;
  entries: readonly TopologyEntry[];
  /** Null for a type that the topology does not know. */
  entryOf(type: string): TopologyEntry | null;
  /** Adds a queue that the topology does not name; returns whether it was new. */
  addQueue(message: MessageType<unknown>, queue: string): boolean;
}

/** A catalogue over its own copy of `topology`. */
export function createCatalogue(topology: Topology): Catalogue {
  const entries = topology.map((entry) => ({ ...entry, queues: [...entry.queues] }));
  const byType = new Map(entries.map((entry) => [entry.message.type, entry]));
  return {
    entries,
    entryOf: (type) => byType.get(type) ?? null,
    check: (envelope) => {
      const entry = byType.get(envelope.type);
      if (!entry)
        throw new AppError('internal_server_error', `no message type ${envelope.type} in the topology`);
      // Its consumer would park it.
      if (!isEnvelope(envelope as unknown))
        throw new AppError('internal_server_error', `a message of type ${envelope.type} is not an envelope`);
      const parsed = entry.message.schema.safeParse(envelope.payload);
      if (parsed.success) return entry;
      throw new AppError('internal_server_error', `payload of ${envelope.type} ${envelope.id} does not fit`, {
        issues: parsed.error.issues,
      });
    },
    addQueue: (message, queue) => {
      const entry = byType.get(message.type);
      if (entry?.queues.includes(queue)) return false;
      if (entry) entry.queues.push(queue);
      else {
        const made = { message, queues: [queue] };
        entries.push(made);
        byType.set(message.type, made);
      }
      return true;
    },
  };
}

/**
 * Parses the JSON text of a delivery for `type`.
 * @throws AppError internal_server_error (not retryable): the same bytes would fail the next time too.
 */
export function readJson(type: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('internal_server_error', `delivery for ${type} is not JSON`, {}, { cause });
  }
}

/** Checks the fields that handlers rely on: names, and an instant. */
function isEnvelope<T>(raw: unknown): raw is Envelope<T> {
  if (typeof raw !== 'object' || raw === null) return false;
  const { id, time, tenant } = raw as Record<string, unknown>;
  const areTexts = [id, time, tenant].every((value) => typeof value === 'string');
  return areTexts && !Number.isNaN(Date.parse(time as string));
}

/**
 * Returns the envelope of a delivery for `message`, with a checked payload; unknown fields pass.
 * @throws AppError internal_server_error (not retryable) when the delivery is not such an envelope.
 */
export function readEnvelope<T>(message: MessageType<T>, raw: unknown): Envelope<T> {
  if (!isEnvelope<T>(raw))
    throw new AppError('internal_server_error', `delivery for ${message.type} is not an envelope`);
  const envelope = raw;
  if (envelope.type !== message.type)
    throw new AppError('internal_server_error', `delivery for ${message.type} is another message`);
  const parsed = message.schema.safeParse(envelope.payload);
  if (!parsed.success) {
    throw new AppError('internal_server_error', `payload of ${message.type} ${envelope.id} does not fit`, {
      issues: parsed.error.issues,
    });
  }
  return { ...envelope, payload: parsed.data };
}

import { newId } from '@baton/kernel';
import type { z } from 'zod';

/**
 * Messages are facts published by their owner: `<owner>.<fact>.v<n>`. Fields are only added; a change of meaning is
 * v(n+1). `work`: one of the competing consumers of each queue gets the message. `fanout`: every running replica gets
 * it; not durable.
 */
export interface MessageType<T> {
  type: string;
  delivery: 'work' | 'fanout';
  schema: z.ZodType<T>;
}

export interface Envelope<T = unknown> {
  id: string;
  type: string;
  /** ISO instant of the transaction that produced the message. */
  time: string;
  tenant: string;
  /** Subject of the message; messages with equal keys may be handled in order by one consumer. */
  key: string;
  traceparent?: string;
  causationId?: string;
  payload: T;
}

export function defineMessage<T>(
  type: string,
  delivery: 'work' | 'fanout',
  schema: z.ZodType<T>,
): MessageType<T> {
  if (!/^[a-z-]+\.[a-z-]+\.v\d+$/.test(type))
    throw new Error(`message type ${type} is not <owner>.<fact>.v<n>`);
  return { type, delivery, schema };
}

/** Makes an envelope of `type` with a checked payload. @throws ZodError when the payload does not match. */
export function buildMessage<T>(
  message: MessageType<T>,
  about: { tenant: string; key: string; time: string; traceparent?: string; causationId?: string },
  payload: T,
): Envelope<T> {
  return { id: newId(), type: message.type, ...about, payload: message.schema.parse(payload) };
}

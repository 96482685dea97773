import { newId } from '@baton/kernel';
import type { z } from 'zod';

/**
 * Messages are facts of their owner: `<owner>.<fact>.v<n>`, additive only; a change of meaning is v(n+1).
 * `work`: one of the competing consumers of each queue gets it. `fanout`: every running replica gets it; not durable.
 */
export interface MessageType<T> {
  type: string;
  delivery: 'work' | 'fanout';
  schema: z.ZodType<T>;
}

export interface Envelope<T = unknown> {
  id: string;
  type: string;
  /** ISO instant of the transaction that produced it. */
  time: string;
  tenant: string;
  /** What it is about; equal keys may be handled by one consumer in turn. */
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

/** An envelope of `type`, its payload checked. @throws ZodError when the payload does not fit. */
export function buildMessage<T>(
  message: MessageType<T>,
  about: { tenant: string; key: string; time: string; traceparent?: string; causationId?: string },
  payload: T,
): Envelope<T> {
  return { id: newId(), type: message.type, ...about, payload: message.schema.parse(payload) };
}

import type { Envelope } from '@baton/contracts';
import { AppError, type ErrorCode } from '@baton/kernel';

/** One side of the channel; messages are JSON and arrive in order. */
export interface BrokerChannel {
  isOpen(): boolean;
  send(message: object): void;
  onMessage(receive: (message: unknown) => void): void;
  onClose(closed: () => void): void;
  close(): void;
}

export interface Failure {
  message: string;
  code: string | null;
}

/** What the child asks. `id` names the answer, or the subscription that it opened. */
export type Asked =
  | { ask: 'publish' | 'handOver'; envelopes: readonly Envelope[] }
  | { ask: 'consume'; type: string; queue: string; prefetch: number }
  | { ask: 'subscribe'; type: string }
  | { ask: 'end'; subscription: number }
  | { ask: 'ping' };
export type ToParent =
  | { broker: 'ask'; id: number; asked: Asked }
  | { broker: 'handled'; id: number; failure: Failure | null };
export type ToChild =
  | { broker: 'answer'; id: number; failure: Failure | null }
  | { broker: 'deliver'; id: number | null; subscription: number; envelope: Envelope }
  | { broker: 'give-up'; id: number };

export const isOurs = <M extends { broker: string }>(message: unknown): message is M =>
  typeof (message as { broker?: unknown } | null)?.broker === 'string';

export function failureOf(error: unknown): Failure {
  return { message: (error as Error).message, code: error instanceof AppError ? error.code : null };
}

export function errorOf({ message, code }: Failure): Error {
  return code === null ? new Error(message) : new AppError(code as ErrorCode, message);
}

export const goneError = (): AppError =>
  new AppError('service_unavailable_error', 'the process that carries the messages is gone');

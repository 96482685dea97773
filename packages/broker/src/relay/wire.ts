/** The messages between a process and its parent about broker messages; JSON, in order. */
import type { Envelope } from '@baton/contracts';
import { AppError, type ErrorCode, isAppError } from '@baton/kernel';

/** One side of the channel; other users may share it. */
export interface BrokerChannel {
  isOpen(): boolean;
  send(message: object): void;
  onMessage(receive: (message: unknown) => void): void;
  onClose(closed: () => void): void;
  close(): void;
}

export interface Failure {
  message: string;
  /** Code of an AppError. */
  code?: ErrorCode;
}

/** The child numbers calls (`call`); the parent numbers deliveries (`delivery`). */
export type FromChild =
  | { broker: 'consume'; call: number; type: string; queue: string; prefetch: number }
  | { broker: 'subscribe'; call: number; type: string }
  | { broker: 'close'; call: number; of: number }
  | { broker: 'publish'; call: number; envelopes: Envelope[] }
  | { broker: 'settled'; delivery: number; failure?: Failure };

export type FromParent =
  | { broker: 'done'; of: number; failure?: Failure }
  | { broker: 'delivered'; to: number; delivery: number; envelope: Envelope }
  | { broker: 'given-up'; delivery: number }
  | { broker: 'told'; to: number; envelope: Envelope };

export const isBrokerMessage = (message: unknown): message is FromChild | FromParent =>
  typeof (message as { broker?: unknown } | null)?.broker === 'string';

export const failureOf = (error: unknown): Failure =>
  isAppError(error)
    ? { message: error.message, code: error.code }
    : { message: String((error as Error)?.message) };

export const errorOf = ({ message, code }: Failure): Error =>
  code ? new AppError(code, message) : new Error(message);

/** Hands an authorised request to the service that owns its route. Two adapters: over HTTP and within the process. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceName } from '@baton/contracts';
import type { AppError } from '@baton/kernel';

export interface ForwardRequest {
  service: ServiceName;
  method: string;
  /** Path with version and query, as the service knows it. */
  url: string;
  /** [name, value, ...] that the service gets, the signed identity among them. */
  headers: string[];
  /** [name, value, ...] added to the answer. */
  answerHeaders: string[];
  /** Whether a body follows, and how many bytes of it are let through. */
  body: 'none' | 'sized' | 'chunked';
  maxBodyBytes: number;
  /** More of the body is to come, as quickly as the client likes: it must not hold a connection that others wait for. */
  isComing: boolean;
  /** Event streams, uploads, downloads. */
  isLong: boolean;
}

export interface Forwarder {
  /** Answers `response`; calls `fail` instead when nothing was sent and nothing will be. */
  forward(
    request: ForwardRequest,
    incoming: IncomingMessage,
    response: ServerResponse,
    fail: (error: AppError) => void,
  ): void;
  close(): Promise<void>;
}

/** Forwards an authorised request to the service that owns its route. Two adapters: over HTTP and within the process. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceName } from '@baton/contracts';
import type { AppError } from '@baton/kernel';

export interface ForwardRequest {
  service: ServiceName;
  method: string;
  /** Path with version and query, as the service expects it. */
  url: string;
  /** [name, value, ...] sent to the service, including the signed identity. */
  headers: string[];
  /** [name, value, ...] added to the answer. */
  answerHeaders: string[];
  /** [name, value, ...] added to the answer where the service does not set these headers itself. */
  unlessSaid: readonly string[];
  /** Whether a body follows, and the most bytes of it that are forwarded. */
  body: 'none' | 'sized' | 'chunked';
  maxBodyBytes: number;
  /**
   * More of the body is still to come, at the speed of the client: such a request must not hold a connection that others wait for.
   */
  isComing: boolean;
  /** Event streams, uploads and downloads. */
  isLong: boolean;
}

export interface Forwarder {
  /** Answers `response`; calls `fail` instead when nothing was sent and nothing will be sent. */
  forward(
    request: ForwardRequest,
    incoming: IncomingMessage,
    response: ServerResponse,
    fail: (error: AppError) => void,
  ): void;
  close(): Promise<void>;
}

import type { Envelope, MessageType } from '@baton/contracts';

export interface Subscription {
  /** No new messages; waits for the handlers at work (after 10 s their signals abort), then lets go of the rest. */
  close(): Promise<void>;
}

export interface ConsumeOptions<T> {
  /** Name of the consumer; its queue is per (type, queue), every consumer of that name competes for the messages. */
  queue: string;
  /** Most messages handled at once by this consumer. */
  prefetch: number;
  /**
   * The message is acknowledged after it resolves. A throw means: later again (1 s, 5 s, 30 s, at most 10 times), or
   * parked at once when it is an AppError that is not retryable. `signal` aborts when the message is given up:
   * connection lost (somebody else gets it) or closing took too long.
   */
  handler: (envelope: Envelope<T>, signal: AbortSignal) => Promise<void>;
}

/** A message that was given up, kept until somebody replays it. */
export interface ParkedMessage {
  id: string;
  type: string;
  queue: string;
  reason: string;
  /** Deliveries that failed. */
  attempts: number;
  /** ISO instant. */
  parkedAt: string;
  /** As received; not checked against the schema. */
  envelope: unknown;
}

/**
 * Carries messages between services, at least once and in no promised order. `work` messages are durable and go to one
 * consumer of each queue; `fanout` messages go to every subscriber that is there now.
 */
export interface Broker {
  /**
   * Resolves when every work message is stored for each of its queues; fanout messages are handed over.
   * Waits up to 30 s for the connection.
   * @throws AppError service_unavailable_error (retryable) without a broker; internal_server_error for a message of
   * unknown type or whose payload does not fit its schema: then none of the batch was sent.
   */
  publish(envelopes: readonly Envelope[]): Promise<void>;
  /**
   * `publish` for one who keeps the messages until this resolves, and publishes them otherwise (the outbox): what a consumer
   * of this process has room for may be handled without being stored, and is stored when that fails. A crash before
   * the end leaves them with whoever keeps them. @throws as `publish`; some may have been handled then.
   */
  handOver(envelopes: readonly Envelope[]): Promise<void>;
  /** Resolves when the queue exists and deliveries may begin. Survives the loss of the connection. */
  consume<T>(message: MessageType<T>, options: ConsumeOptions<T>): Promise<Subscription>;
  /** Fanout: `handler` gets each message published from now on; what it throws is logged and forgotten. */
  subscribe<T>(
    message: MessageType<T>,
    handler: (envelope: Envelope<T>) => void | Promise<void>,
  ): Promise<Subscription>;
  /** @throws when the broker does not answer. */
  ping(): Promise<void>;
  /** Closes the subscriptions, then the connections. */
  close(): Promise<void>;
  /** At most 1,000, oldest first. */
  listParked(queue?: string): Promise<ParkedMessage[]>;
  /** Puts it back into its queue with a fresh count. @throws AppError not_found_error. */
  replayParked(id: string): Promise<void>;
}

import type { Envelope, MessageType } from '@baton/contracts';

export interface Subscription {
  /** Stops new deliveries, waits for running handlers (after 10 s their signals abort), then gives the remaining messages back. */
  close(): Promise<void>;
}

export interface ConsumeOptions<T> {
  /** Name of the consumer. Its queue is per (type, queue); all consumers of that name share the messages. */
  queue: string;
  /** Most messages that this consumer handles at once. */
  prefetch: number;
  /**
   * Handles one message, which is acknowledged when the promise resolves. A rejection delivers it again later (after 1 s, 5 s, 30
   * s, at most 10 times); a rejection with an AppError that is not retryable parks it at once. `signal` aborts when the message is
   * given up: the connection is lost (another consumer gets it) or closing took too long.
   */
  handler: (envelope: Envelope<T>, signal: AbortSignal) => Promise<void>;
}

/** A message that was given up, kept until an operator replays it. */
export interface ParkedMessage {
  id: string;
  type: string;
  queue: string;
  reason: string;
  /** Number of failed deliveries. */
  attempts: number;
  /** ISO instant. */
  parkedAt: string;
  /** The envelope as received; not checked against the schema. */
  envelope: unknown;
}

/**
 * Carries messages between services, at least once and in no promised order. A `work` message is durable and goes to one consumer
 * of each of its queues. A `fanout` message goes to every current subscriber.
 */
export interface Broker {
  /**
   * Publishes messages. Resolves when every work message is stored in each of its queues; fanout messages are passed to the broker.
   * Waits up to 30 s for the connection.
   * @throws AppError service_unavailable_error (retryable) without a broker; internal_server_error for a message of unknown type or
   * whose payload does not fit its schema: then none of the batch was sent.
   */
  publish(envelopes: readonly Envelope[]): Promise<void>;
  /**
   * `publish` for a caller that keeps the messages until this resolves, and publishes them otherwise (the outbox). Messages for
   * which a consumer of this process has room may be handled without being stored; a message whose handler fails is stored. After a
   * crash before the end, the caller still has the messages. @throws as `publish`; some messages may have been handled then.
   */
  handOver(envelopes: readonly Envelope[]): Promise<void>;
  /** Resolves when the queue exists and deliveries may begin. Survives the loss of the connection. */
  consume<T>(message: MessageType<T>, options: ConsumeOptions<T>): Promise<Subscription>;
  /**
   * Subscribes to fanout messages: `handler` gets each message published from now on; its errors are only logged. `onGap` is called
   * when the connection had been lost and is back: the messages in between are missed.
   */
  subscribe<T>(
    message: MessageType<T>,
    handler: (envelope: Envelope<T>) => void | Promise<void>,
    onGap?: () => void,
  ): Promise<Subscription>;
  /** @throws when the broker does not answer. */
  ping(): Promise<void>;
  /** Closes the subscriptions, then the connections. */
  close(): Promise<void>;
  /** Returns at most 1,000 parked messages, oldest first. */
  listParked(queue?: string): Promise<ParkedMessage[]>;
  /** Puts a parked message back into its queue, with no failed deliveries. @throws AppError not_found_error. */
  replayParked(id: string): Promise<void>;
}

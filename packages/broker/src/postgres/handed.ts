import { setImmediate } from 'node:timers/promises';
import type { Envelope, MessageType } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import { readEnvelope } from '../catalogue';
import type { InFlight } from '../in-flight';
import type { ConsumeOptions } from '../port';

/** Messages that a consumer handles without storing them. */
export interface HandedMessages {
  /** Number of messages being handled. */
  readonly size: number;
  /** Handles a message; resolves to whether the handler succeeded, false also when the message is given up. Never rejects. */
  take(envelope: Envelope): Promise<boolean>;
}

/** `ended` is called after each message. */
export function createHandedMessages<T>({
  inFlight,
  message,
  handler,
  log,
  ended,
}: Pick<ConsumeOptions<T>, 'handler'> & {
  inFlight: InFlight;
  message: MessageType<T>;
  log: Log;
  ended: () => void;
}): HandedMessages {
  let size = 0;
  const handle = async (envelope: Envelope, signal: AbortSignal): Promise<void> => {
    // The committer of the message first does its own follow-up work (it drives the execution of the message).
    await setImmediate();
    signal.throwIfAborted();
    await untilGivenUp(handler(readEnvelope(message, envelope), signal), signal);
  };
  return {
    get size() {
      return size;
    },
    take: async (envelope) => {
      size++;
      try {
        await inFlight.run((signal) => handle(envelope, signal));
        return true;
      } catch (error) {
        log.debug({ messageId: envelope.id, error: (error as Error).message }, 'message is stored after all');
        return false;
      } finally {
        size--;
        ended();
      }
    },
  };
}

/** Does not wait for a handler that goes on after its message was given up. */
function untilGivenUp(handled: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    handled.then(resolve, reject);
  });
}

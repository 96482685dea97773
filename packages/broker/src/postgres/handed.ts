import { setImmediate } from 'node:timers/promises';
import type { Envelope, MessageType } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import { readEnvelope } from '../catalogue';
import type { InFlight } from '../in-flight';
import type { ConsumeOptions } from '../port';

/** Messages that a consumer handles without their being stored. */
export interface HandedMessages {
  /** How many are at work. */
  readonly size: number;
  /** Whether the handler succeeded; false as well when the message is given up. Never rejects. */
  take(envelope: Envelope): Promise<boolean>;
}

/** `ended` is called after each. */
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
    // Whoever has just committed it does first what follows from that (it drives the execution that the message is about).
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

/** A handler that goes on after its message was given up is not waited for. */
function untilGivenUp(handled: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    handled.then(resolve, reject);
  });
}

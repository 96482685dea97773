import type { IncomingMessage } from 'node:http';
import { AppError } from '@baton/kernel';

export function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large_error', `The body is larger than ${maxBytes} bytes`, {
    expected: `at most ${maxBytes} bytes`,
  });
}

/** Yields the chunks of a body of unknown length until they exceed `maxBytes`. @throws AppError payload_too_large_error */
export async function* limitBody(incoming: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  // The connection must stay open after a refusal, because the answer is sent on it.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

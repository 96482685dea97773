/** Server-sent events: heartbeat, back-pressure, end with the client. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { StreamEvent } from './answer';

const HEARTBEAT_MS = 15_000;

/** Wire form of one event; a text is passed through unchanged. */
function formatEvent(event: StreamEvent | string): string {
  if (typeof event === 'string') return event;
  const text = typeof event.data === 'string' ? event.data : JSON.stringify(event.data);
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  const name = event.event === undefined ? '' : `event: ${event.event}\n`;
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('');
  return `${id}${name}${lines}\n`;
}

/**
 * Writes `events` until they end, the client goes away or `signal` (the stop of the service) aborts. A failing source ends the
 * stream with an `error` event, so that the client knows to reconnect.
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<StreamEvent | string>,
  o: {
    headers: Record<string, string>;
    signal: AbortSignal;
    heartbeatMs?: number;
    onError(error: unknown): void;
  },
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    ...o.headers,
  });
  response.write(': open\n\n');
  const iterator = events[Symbol.asyncIterator]();
  const ended = new AbortController();
  const end = (): void => ended.abort();
  response.once('close', end);
  o.signal.addEventListener('abort', end, { once: true });
  // No heartbeat while the client has unread data: that data shows that the service lives.
  const beat = (): unknown => response.writableNeedDrain || response.write(': alive\n\n');
  const heartbeat = setInterval(beat, o.heartbeatMs ?? HEARTBEAT_MS);
  const gone = new Promise<'gone'>((resolve) => {
    if (o.signal.aborted) resolve('gone');
    ended.signal.addEventListener('abort', () => resolve('gone'), { once: true });
  });
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), gone]);
      if (next === 'gone' || next.done) break;
      if (!response.write(formatEvent(next.value))) await once(response, 'drain', { signal: ended.signal });
    }
  } catch (error) {
    if (!ended.signal.aborted) {
      o.onError(error);
      response.write(formatEvent({ event: 'error', data: { error_code: 'internal_server_error' } }));
    }
  } finally {
    clearInterval(heartbeat);
    o.signal.removeEventListener('abort', end);
    // Not awaited: a generator that waits inside next() can return only after that.
    iterator.return?.()?.catch(() => undefined);
    response.end();
  }
}

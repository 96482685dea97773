/** Server-sent events across lost connections: resumed with Last-Event-ID, so that no event is repeated or missed. */
import { backoffMs } from '@baton/kernel';
import { createParser } from 'eventsource-parser';
import { ApiError } from './api-error';
import { pause } from './transport';

export interface ServerEvent {
  id: string | null;
  /** `message` when the server named none. */
  event: string;
  /** Parsed JSON; the text itself where it is not JSON. */
  data: any;
}

export interface EventOptions {
  /** Continue after this event. */
  lastEventId?: string;
  signal?: AbortSignal;
  /** A connection without a byte for this long counts as lost; the server sends a heartbeat each 15 s. Default 45 s. */
  silenceMs?: number;
}

export type OpenStream = (headers: Record<string, string>, signal: AbortSignal) => Promise<Response>;

const RETRY = { firstMs: 200, maxMs: 5000, factor: 2, jitter: 0.3 };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Yields the received pieces; not every browser can iterate a stream. The stream is cancelled when the caller stops. */
async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Yields the events of one connection; ends or throws when the connection ends or falls silent. */
async function* readOnce(
  response: Response,
  silenceMs: number,
  cut: AbortController,
): AsyncGenerator<ServerEvent> {
  const queue: ServerEvent[] = [];
  const parser = createParser({
    onEvent: (e) => queue.push({ id: e.id ?? null, event: e.event ?? 'message', data: parsed(e.data) }),
  });
  const decoder = new TextDecoder();
  let timer = setTimeout(() => cut.abort(), silenceMs);
  try {
    for await (const chunk of piecesOf(response.body!)) {
      clearTimeout(timer);
      timer = setTimeout(() => cut.abort(), silenceMs);
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* queue.splice(0);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a retry cannot change the refusal. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.status !== 429;
}

/**
 * Yields events until the caller stops, `signal` aborts (a normal end) or the server answers 204 (no more events).
 * @throws ApiError when the stream is refused (4xx).
 */
export async function* readEvents(open: OpenStream, o: EventOptions = {}): AsyncGenerator<ServerEvent> {
  let lastId = o.lastEventId;
  for (let failures = 0; !o.signal?.aborted; ) {
    const cut = new AbortController();
    const signal = o.signal ? AbortSignal.any([o.signal, cut.signal]) : cut.signal;
    try {
      const response = await open(lastId === undefined ? {} : { 'last-event-id': lastId }, signal);
      if (response.status === 204) return;
      for await (const event of readOnce(response, o.silenceMs ?? 45_000, cut)) {
        if (event.event === 'error') break;
        failures = 0;
        if (event.id !== null) lastId = event.id;
        yield event;
      }
    } catch (error) {
      if (isFinal(error)) throw error;
    } finally {
      cut.abort();
    }
    failures++;
    await pause(backoffMs(failures, RETRY), o.signal).catch(() => undefined);
  }
}

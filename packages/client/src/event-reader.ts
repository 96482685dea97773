/** Server-sent events that outlast connections: resumed with Last-Event-ID, nothing twice, nothing missed. */
import { backoffMs } from '@baton/kernel';
import { createParser } from 'eventsource-parser';
import { ApiError } from './api-error';
import { pause } from './transport';

export interface ServerEvent {
  id: string | null;
  /** `message` when the server named none. */
  event: string;
  /** Parsed JSON; the text itself where it is none. */
  data: any;
}

export interface EventOptions {
  /** Continue after this event. */
  lastEventId?: string;
  signal?: AbortSignal;
  /** Without a byte for so long the connection counts as lost; the server sends a heartbeat each 15 s. Default 45 s. */
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

/** Events of one connection; ends or throws when that ends or falls silent. */
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
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      timer = setTimeout(() => cut.abort(), silenceMs);
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* queue.splice(0);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** A refusal that a repetition will not change. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.status !== 429;
}

/**
 * Events until the caller stops, `signal` aborts (a normal end) or the server answers 204 (no more).
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

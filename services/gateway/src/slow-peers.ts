/** Ends requests whose client sends its body, or reads its answer, too slowly. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@baton/kernel';

export interface SlowPeerSettings {
  /** Longest silence of a client that sends a body, ms. */
  bodyIdleMs: number;
  uploadIdleMs: number;
  /** Least bytes a second of a body on average, checked after the first `bodyIdleMs` or `uploadIdleMs`. */
  leastRate: number;
  /** Longest time in which a client reads no byte of an answer, ms. */
  answerIdleMs: number;
}

export interface Watched {
  request: IncomingMessage;
  response: ServerResponse;
  hasBody: boolean;
  isUpload: boolean;
  /** Called once, when the body comes too slowly. */
  onSlowBody(): void;
}

export interface SlowPeers {
  /** Watches a request until the returned function is called. */
  watch(peer: Watched): () => void;
  close(): void;
}

interface Entry {
  peer: Watched;
  place: number;
  beganMs: number;
  /** Time in which the service did not read: the client is not to blame for it. */
  oursMs: number;
  firstBytes: number;
  bytes: number;
  movedMs: number;
  unsent: number;
  unsentMs: number;
  isBodyOver: boolean;
}

const MOST_BETWEEN_LOOKS_MS = 1_000;

/** One timer checks all requests: a request that begins and ends between two checks costs only a list entry. */
export function createSlowPeers(settings: SlowPeerSettings, clock: Clock): SlowPeers {
  // Not a Set: see the reason in service-watch.ts.
  const entries: Entry[] = [];
  const shortest = Math.min(settings.bodyIdleMs, settings.uploadIdleMs, settings.answerIdleMs);
  const betweenMs = Math.max(20, Math.min(MOST_BETWEEN_LOOKS_MS, shortest / 4));
  let lastMs = clock.monotonic();
  const look = (): void => {
    const nowMs = clock.monotonic();
    const sinceMs = nowMs - lastMs;
    lastMs = nowMs;
    // A request that is ended leaves the list, so the loop runs from the end.
    for (let i = entries.length - 1; i >= 0; i--) {
      const entry = entries[i];
      if (!entry) continue;
      if (isBodySlow(entry, settings, nowMs, sinceMs)) {
        entry.isBodyOver = true;
        entry.peer.onSlowBody();
      } else if (isAnswerStuck(entry, settings, nowMs)) entry.peer.response.destroy();
    }
  };
  const timer = setInterval(look, betweenMs).unref();
  return {
    watch(peer) {
      const nowMs = clock.monotonic();
      const bytes = peer.hasBody ? peer.request.socket.bytesRead : 0;
      const entry: Entry = {
        peer,
        place: entries.length,
        beganMs: nowMs,
        oursMs: 0,
        firstBytes: bytes,
        bytes,
        movedMs: nowMs,
        unsent: 0,
        unsentMs: nowMs,
        isBodyOver: !peer.hasBody,
      };
      entries.push(entry);
      return () => {
        if (entries[entry.place] !== entry) return;
        const last = entries.pop()!;
        if (last === entry) return;
        last.place = entry.place;
        entries[entry.place] = last;
      };
    },
    close: () => clearInterval(timer),
  };
}

function isBodySlow(entry: Entry, settings: SlowPeerSettings, nowMs: number, sinceMs: number): boolean {
  const { request, isUpload } = entry.peer;
  if (entry.isBodyOver) return false;
  if (request.complete || request.destroyed) {
    entry.isBodyOver = true;
    return false;
  }
  const idleMs = isUpload ? settings.uploadIdleMs : settings.bodyIdleMs;
  const bytes = request.socket?.bytesRead ?? entry.bytes;
  // A full buffer: the service does not read, so the client cannot send.
  if (bytes !== entry.bytes || request.readableLength >= request.readableHighWaterMark) {
    if (bytes === entry.bytes) entry.oursMs += sinceMs;
    entry.bytes = bytes;
    entry.movedMs = nowMs;
  }
  if (nowMs - entry.movedMs >= idleMs) return true;
  const sendingMs = nowMs - entry.beganMs - entry.oursMs;
  return sendingMs > idleMs && ((bytes - entry.firstBytes) * 1000) / sendingMs < settings.leastRate;
}

function isAnswerStuck(entry: Entry, { answerIdleMs }: SlowPeerSettings, nowMs: number): boolean {
  const { response } = entry.peer;
  const unsent = unsentBytes(response);
  if (unsent === 0 || unsent !== entry.unsent) {
    entry.unsent = unsent;
    entry.unsentMs = nowMs;
    return false;
  }
  return nowMs - entry.unsentMs >= answerIdleMs;
}

/** Returns the bytes that wait in the process and in the system call; the latter shrink while a large write is in progress. */
function unsentBytes(response: ServerResponse): number {
  const socket = response.socket as
    | (ServerResponse['socket'] & { _handle?: { writeQueueSize?: number } })
    | null;
  if (!socket) return 0;
  return response.writableLength + socket.writableLength + (socket._handle?.writeQueueSize ?? 0);
}

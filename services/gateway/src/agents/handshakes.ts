/** Lets TLS handshakes begin at a bounded rate: a handshake costs a millisecond of the only thread, and agents may come all at once. */
import type { Socket } from 'node:net';

export interface HandshakeSettings {
  perSecond: number;
  /** Most that pass at once after a quiet time. */
  burst: number;
  /** Most connections that wait, of all addresses and of one. */
  maxWaiting: number;
  maxOfAddress: number;
}

/** At most 50 in any second (reference/agents.md 2 S10). */
export const usualHandshakes: HandshakeSettings = {
  perSecond: 45,
  burst: 5,
  maxWaiting: 4_000,
  maxOfAddress: 2_000,
};

export interface Handshakes {
  /** Passes the connection on, now or later; one too many is closed. */
  add(socket: Socket): void;
  /** Number of waiting connections. */
  waiting(): number;
  close(): void;
}

const SECOND_MS = 1_000;
const ignore = (): void => undefined;

/**
 * The first `burst` connections pass at once, then one each 1/`perSecond` s. Addresses take turns, so one that opens thousands
 * does not keep the others out. No timer runs while nobody waits.
 */
export function createHandshakes(
  { perSecond, burst, maxWaiting, maxOfAddress }: HandshakeSettings,
  begin: (socket: Socket) => void,
  now: () => number,
): Handshakes {
  const queues = new Map<string, Set<Socket>>();
  let count = 0;
  let credit = burst;
  let atMs = now();
  let timer: NodeJS.Timeout | null = null;

  const refill = (): void => {
    const nowMs = now();
    credit = Math.min(burst, credit + ((nowMs - atMs) * perSecond) / SECOND_MS);
    atMs = nowMs;
  };
  const remove = (address: string, socket: Socket): void => {
    const queue = queues.get(address);
    if (!queue?.delete(socket)) return;
    count -= 1;
    if (queue.size === 0) queues.delete(address);
  };
  /** Takes the first connection of the address whose turn it is. */
  const next = (): Socket => {
    const [[address, queue]] = queues as unknown as [[string, Set<Socket>]];
    const [socket] = queue as unknown as [Socket];
    remove(address, socket);
    if (queues.delete(address)) queues.set(address, queue);
    return socket;
  };
  const run = (): void => {
    timer = null;
    refill();
    while (count > 0 && credit >= 1) {
      credit -= 1;
      begin(next());
    }
    if (count > 0) timer = setTimeout(run, Math.ceil(SECOND_MS / perSecond));
  };
  return {
    add(socket) {
      refill();
      if (count === 0 && credit >= 1) {
        credit -= 1;
        return begin(socket);
      }
      const address = socket.remoteAddress ?? '';
      const queue = queues.get(address) ?? new Set();
      if (count >= maxWaiting || queue.size >= maxOfAddress) return void socket.destroy();
      queues.set(address, queue.add(socket));
      count += 1;
      socket.on('error', ignore);
      socket.once('close', () => remove(address, socket));
      timer ??= setTimeout(run, Math.ceil(SECOND_MS / perSecond));
    },
    waiting: () => count,
    close() {
      if (timer) clearTimeout(timer);
      for (const queue of queues.values()) for (const socket of [...queue]) socket.destroy();
    },
  };
}

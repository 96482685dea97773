import { createServer, connect as dial, type Socket } from 'node:net';

/** A TCP proxy with faults on demand. `through(url)` is the target's `url` with the proxy's address. */
export interface TcpProxy {
  port: number;
  /** Returns the same address through the proxy. */
  through(url: string): string;
  /** Resets all connections; new ones work. */
  cut(): void;
  /** Drops all data in both directions without closing (a dead network) until `heal`; connections hang. */
  blackhole(): void;
  /** Passes requests and drops the answers: the server has done the work, and the client never learns it. */
  dropAnswers(): void;
  /** Delays all data by `ms`, plus or minus up to `jitterMs`; the order is kept. */
  delay(ms: number, jitterMs?: number): void;
  /** That share of the pieces of data comes as late as if it had been lost once or twice and sent again; the order is kept. */
  lose(share: number): void;
  /** Refuses new connections and resets the present ones. */
  refuse(): void;
  /** Passes everything again. Dropped data is lost, so connections that lost data are reset. */
  heal(): void;
  close(): Promise<void>;
}

type Mode = 'pass' | 'blackhole' | 'dropAnswers' | 'refuse';

/** Wait of TCP before it sends again, at least; the second time it is twice as long. */
const AGAIN_MS = 200;

/** Starts a proxy on a free port in front of `target`; `host`: the address that it listens at. */
export async function tcpProxy(
  target: { host: string; port: number },
  host = '127.0.0.1',
): Promise<TcpProxy> {
  const pairs = new Set<{ client: Socket; server: Socket; hasLost: boolean }>();
  let mode: Mode = 'pass';
  let delayMs = 0;
  let jitterMs = 0;
  let lostShare = 0;
  const lossMs = (): number => {
    if (Math.random() >= lostShare) return 0;
    return Math.random() < lostShare ? 3 * AGAIN_MS : AGAIN_MS;
  };

  const server = createServer((client) => {
    if (mode === 'refuse') return client.resetAndDestroy();
    const upstream = dial(target.port, target.host);
    const pair = { client, server: upstream, hasLost: false };
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    const relay = (to: Socket, isAnswer: boolean) => {
      let lastDue = 0;
      const held: Buffer[] = [];
      return (chunk: Buffer) => {
        if (mode === 'blackhole' || (mode === 'dropAnswers' && isAnswer)) {
          pair.hasLost = true;
          return;
        }
        const now = performance.now();
        const waitMs = delayMs + (Math.random() * 2 - 1) * jitterMs + lossMs();
        lastDue = Math.max(lastDue, now + waitMs);
        if (lastDue <= now && held.length === 0) {
          to.write(chunk);
          return;
        }
        // Timers of one instant have no order, but the chunks have one.
        held.push(chunk);
        setTimeout(() => to.write(held.shift()!), Math.max(0, lastDue - now));
      };
    };
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    client.on('data', relay(upstream, false)).on('error', end).on('close', end);
    upstream.on('data', relay(client, true)).on('error', end).on('close', end);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as { port: number };
  const reset = (isHit: (pair: { hasLost: boolean }) => boolean): void => {
    for (const pair of [...pairs]) {
      if (!isHit(pair)) continue;
      pair.client.resetAndDestroy();
      pair.server.destroy();
    }
  };

  return {
    port,
    through: (url) => {
      const changed = new URL(url);
      changed.host = `${host}:${port}`;
      return changed.href;
    },
    cut: () => reset(() => true),
    blackhole: () => {
      mode = 'blackhole';
    },
    dropAnswers: () => {
      mode = 'dropAnswers';
    },
    delay: (ms, jitter = 0) => {
      delayMs = ms;
      jitterMs = jitter;
    },
    lose: (share) => {
      lostShare = share;
    },
    refuse: () => {
      mode = 'refuse';
      reset(() => true);
    },
    heal: () => {
      mode = 'pass';
      delayMs = 0;
      jitterMs = 0;
      lostShare = 0;
      reset((pair) => pair.hasLost);
    },
    close: async () => {
      reset(() => true);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

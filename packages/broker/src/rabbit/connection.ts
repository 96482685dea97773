import { backoffMs, type Log } from '@baton/kernel';
import { type ChannelModel, connect } from 'amqplib';
import { unavailable } from '../unavailable';
import { atMost } from './at-most';

const RECONNECT = { firstMs: 100, maxMs: 5_000, factor: 2, jitter: 0.3 };
const CONNECT_TIMEOUT_MS = 10_000;
const HEARTBEAT_S = 10;

/** A connection that comes back for ever, together with what was set up on it. */
export interface LastingConnection {
  /**
   * Runs `setUp` on the present connection and again on each later one. Resolves after its first success; a failing
   * `setUp` costs the connection, and both are tried again. The answer takes it off.
   */
  keep(setUp: SetUp): Promise<() => void>;
  /** Resolves when connected. @throws AppError service_unavailable_error after `timeoutMs` or when closed. */
  ready(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

export type SetUp = (connection: ChannelModel, drop: (reason: string) => void) => Promise<void>;

interface Live {
  connection: ChannelModel;
  drop: (reason: string) => void;
  applied: Map<SetUp, Promise<void>>;
}

/** Once per connection, although both the reconnect and `keep` may ask for it. */
function apply(live: Live, setUp: SetUp): Promise<void> {
  const known = live.applied.get(setUp);
  if (known) return known;
  const done = setUp(live.connection, live.drop);
  live.applied.set(setUp, done);
  return done;
}

/** Connects at once. `drop` of a set-up gives the connection up, for instance when one of its channels broke. */
export function createLastingConnection({
  url,
  name,
  log,
}: {
  url: string;
  name: string;
  log: Log;
}): LastingConnection {
  const setUps = new Set<SetUp>();
  const waiting = new Set<() => void>();
  let current: Live | null = null;
  let isClosed = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;

  const reconnectLater = (reason: string): void => {
    if (isClosed) return;
    failures++;
    const delayMs = backoffMs(failures, RECONNECT);
    log.warn({ connection: name, reason, delayMs }, 'broker connection lost');
    timer = setTimeout(() => void open(), delayMs);
  };

  const open = async (): Promise<void> => {
    let connection: ChannelModel;
    try {
      connection = await connectWithin(url, name);
    } catch (error) {
      reconnectLater((error as Error).message);
      return;
    }
    let isGone = false;
    const lost = (reason: string): void => {
      if (isGone) return;
      isGone = true;
      if (current?.connection === connection) current = null;
      connection.close().catch(() => undefined);
      reconnectLater(reason);
    };
    const live: Live = { connection, drop: lost, applied: new Map() };
    connection.on('error', (error) => lost(error.message));
    connection.on('close', () => lost('closed by the server'));
    if (isClosed) return lost('closed');
    try {
      for (const setUp of [...setUps]) await apply(live, setUp);
    } catch (error) {
      return lost((error as Error).message);
    }
    if (isGone) return;
    failures = 0;
    current = live;
    for (const resolve of [...waiting]) resolve();
  };

  const ready = (timeoutMs: number): Promise<void> => {
    if (current) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(late);
        waiting.delete(done);
        if (isClosed) reject(unavailable('closed'));
        else resolve();
      };
      const late = setTimeout(() => {
        waiting.delete(done);
        reject(unavailable('not connected'));
      }, timeoutMs);
      waiting.add(done);
      if (isClosed) done();
    });
  };

  void open();
  return {
    ready,
    keep: async (setUp) => {
      setUps.add(setUp);
      // Connected already: only this one is missing. Otherwise the connection under way may have started without it.
      while (!isClosed && setUps.has(setUp)) {
        const here = current;
        if (here) {
          try {
            await apply(here, setUp);
            break;
          } catch (error) {
            here.drop((error as Error).message);
          }
        }
        await ready(CONNECT_TIMEOUT_MS).catch(() => undefined);
      }
      return () => void setUps.delete(setUp);
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      const last = current;
      current = null;
      for (const resolve of [...waiting]) resolve();
      if (last) await atMost(last.connection.close());
    },
  };
}

async function connectWithin(url: string, name: string): Promise<ChannelModel> {
  const target = new URL(url);
  if (!target.searchParams.has('heartbeat')) target.searchParams.set('heartbeat', String(HEARTBEAT_S));
  return await connect(target.href, {
    timeout: CONNECT_TIMEOUT_MS,
    noDelay: true,
    keepAlive: true,
    clientProperties: { connection_name: name },
  });
}

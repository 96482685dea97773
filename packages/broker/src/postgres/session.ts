import { randomInt } from 'node:crypto';
import { backoffMs, type Log } from '@baton/kernel';
import pg from 'pg';
import { unavailable } from '../unavailable';
import { ensureSchema } from './schema';

const RECONNECT = { firstMs: 100, maxMs: 5_000, factor: 2, jitter: 0.3 };
const CONNECT_TIMEOUT_MS = 10_000;
/** A silent connection is asked this often whether it is still there. */
const PROBE_MS = 10_000;
const PROBE_TIMEOUT_MS = 10_000;
/** Class of the advisory locks that say which sessions live. */
export const OWNER_LOCKS = 72_360;

/**
 * The one connection on which a process listens. It also holds an advisory lock on its number, `owner`: messages are
 * handled in the name of that number, and when the connection ends, for whatever reason, the server drops the lock and
 * every other process knows that they have no owner any more. A new connection has a new number.
 */
export interface Session {
  /** Number of the present connection, null while there is none. */
  owner(): number | null;
  ready(timeoutMs: number): Promise<void>;
  onNotification(channel: string, receive: (payload: string) => void): void;
  /** Called after each connect, when everything is listened to. */
  onConnect(call: () => void): void;
  onLoss(call: () => void): void;
  close(): Promise<void>;
}

export function createSession(options: {
  url: string;
  schema: string;
  channels: readonly string[];
  log: Log;
}): Session {
  const { log } = options;
  const receivers = new Map<string, Set<(payload: string) => void>>();
  const connects = new Set<() => void>();
  const losses = new Set<() => void>();
  const waiting = new Set<() => void>();
  let live: { client: pg.Client; owner: number } | null = null;
  let isClosed = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;

  const reconnectLater = (reason: string): void => {
    if (isClosed) return;
    failures++;
    const delayMs = backoffMs(failures, RECONNECT);
    log.warn({ reason, delayMs }, 'broker connection lost');
    timer = setTimeout(() => void open(), delayMs);
  };
  const open = async (): Promise<void> => {
    const client = new pg.Client({
      connectionString: options.url,
      application_name: 'baton-broker-session',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: PROBE_TIMEOUT_MS,
    });
    let isGone = false;
    const lost = (reason: string): void => {
      if (isGone) return;
      isGone = true;
      clearInterval(probe);
      client.end().catch(() => undefined);
      if (live?.client === client) {
        live = null;
        for (const call of [...losses]) call();
      }
      reconnectLater(reason);
    };
    const probe = setInterval(
      () => client.query('select 1').catch((error: Error) => lost(error.message)),
      PROBE_MS,
    );
    client.on('error', (error) => lost(error.message));
    client.on('end', () => lost('closed by the server'));
    client.on('notification', ({ channel, payload }) => {
      for (const receive of [...(receivers.get(channel) ?? [])]) receive(payload ?? '');
    });
    try {
      await client.connect();
      const owner = await prepare(client, options);
      if (isClosed) return lost('closed');
      live = { client, owner };
    } catch (error) {
      return lost((error as Error).message);
    }
    failures = 0;
    for (const call of [...connects, ...waiting]) call();
  };

  void open();
  return {
    owner: () => live?.owner ?? null,
    onNotification: (channel, receive) => {
      receivers.set(channel, (receivers.get(channel) ?? new Set()).add(receive));
    },
    onConnect: (call) => void connects.add(call),
    onLoss: (call) => void losses.add(call),
    ready: (timeoutMs) => {
      if (live) return Promise.resolve();
      if (isClosed) return Promise.reject(unavailable('closed'));
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
      });
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      const last = live;
      live = null;
      for (const call of [...waiting]) call();
      await last?.client.end().catch(() => undefined);
    },
  };
}

/** Makes the tables, takes a number that nobody has, listens. */
async function prepare(
  client: pg.Client,
  options: { schema: string; channels: readonly string[] },
): Promise<number> {
  await ensureSchema(client, options.schema);
  for (;;) {
    const owner = randomInt(1, 2 ** 31);
    const { rows } = await client.query('select pg_try_advisory_lock($1, $2) as is_ours', [
      OWNER_LOCKS,
      owner,
    ]);
    if (!rows[0].is_ours) continue;
    for (const channel of options.channels) await client.query(`listen "${channel}"`);
    return owner;
  }
}

import { randomInt } from 'node:crypto';
import type { Log } from '@baton/kernel';
import { postgresConnection, type TlsSource } from '@baton/tls';
import pg from 'pg';
import { createReadiness } from '../readiness';
import { createReconnect } from '../reconnect';
import { ensureSchema } from './schema';

const CONNECT_TIMEOUT_MS = 10_000;
/** Interval at which a silent connection is probed. */
const PROBE_MS = 10_000;
const PROBE_TIMEOUT_MS = 10_000;
/** Class of the advisory locks that mark live sessions. */
export const OWNER_LOCKS = 72_360;

/**
 * The one connection on which a process listens. It also holds an advisory lock on its number, `owner`. Messages are claimed with
 * that number. When the connection ends, for whatever reason, the server drops the lock, and every other process sees that the
 * messages have no owner any more. A new connection has a new number.
 */
export interface Session {
  /** Number of the present connection, null while there is none. */
  owner(): number | null;
  ready(timeoutMs: number): Promise<void>;
  onNotification(channel: string, receive: (payload: string) => void): void;
  /** Called after each connect, when all channels are listened to. */
  onConnect(call: () => void): void;
  /** Returns the function that removes `call`. */
  onLoss(call: () => void): () => void;
  close(): Promise<void>;
}

export interface SessionOptions {
  url: string;
  trust?: TlsSource | null | undefined;
  schema: string;
  channels: readonly string[];
  log: Log;
}

interface Live {
  client: pg.Client;
  owner: number;
}

export function createSession(options: SessionOptions): Session {
  const receivers = new Map<string, Set<(payload: string) => void>>();
  const connects = new Set<() => void>();
  const losses = new Set<() => void>();
  const readiness = createReadiness();
  let live: Live | null = null;
  let isClosed = false;

  const receive = (channel: string, payload: string): void => {
    for (const call of [...(receivers.get(channel) ?? [])]) call(payload);
  };
  const open = async (): Promise<void> => {
    try {
      const opened = await connectLive(options, receive, (lost, reason) => {
        if (live?.client === lost) {
          live = null;
          readiness.set(false);
          for (const call of [...losses]) call();
        }
        reconnect.later(reason);
      });
      if (isClosed) return void opened.client.end().catch(() => undefined);
      live = opened;
    } catch {
      // The failure is reported as a loss.
      return;
    }
    reconnect.succeeded();
    readiness.set(true);
    for (const call of [...connects]) call();
  };
  const reconnect = createReconnect(options.log, open);

  void open();
  return {
    owner: () => live?.owner ?? null,
    onNotification: (channel, call) => {
      receivers.set(channel, (receivers.get(channel) ?? new Set()).add(call));
    },
    onConnect: (call) => void connects.add(call),
    onLoss: (call) => {
      losses.add(call);
      return () => void losses.delete(call);
    },
    ready: readiness.wait,
    close: async () => {
      isClosed = true;
      reconnect.stop();
      const last = live;
      live = null;
      readiness.close();
      await last?.client.end().catch(() => undefined);
    },
  };
}

/** Connects and prepares the session; `onLoss` is called once, when that fails or the connection ends later. */
async function connectLive(
  options: SessionOptions,
  receive: (channel: string, payload: string) => void,
  onLoss: (client: pg.Client, reason: string) => void,
): Promise<Live> {
  const client = new pg.Client({
    ...postgresConnection(options.url, options.trust),
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
    onLoss(client, reason);
  };
  const probe = setInterval(
    () => void client.query('select 1').catch((error: Error) => lost(error.message)),
    PROBE_MS,
  );
  client.on('error', (error) => lost(error.message));
  client.on('end', () => lost('closed by the server'));
  client.on('notification', ({ channel, payload }) => receive(channel, payload ?? ''));
  try {
    await client.connect();
    return { client, owner: await prepare(client, options) };
  } catch (error) {
    lost((error as Error).message);
    throw error;
  }
}

/** Creates the tables, locks an unused number, listens. */
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

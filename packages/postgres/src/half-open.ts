import type { Socket } from 'node:net';
import type { Log } from '@baton/kernel';
import { postgresConnection, type TlsSource } from '@baton/tls';
import pg from 'pg';

export interface HalfOpenOptions {
  url: string;
  trust?: TlsSource | null | undefined;
  log: Log;
  /** How long a connection in use may be silent before the server is probed. Default 8 s. */
  silentMs?: number;
  /** How long a probe may take. Default 5 s. */
  probeMs?: number;
  /** Silence after which the connection counts as dead even if the server answers the probe; null: statements have no limit. */
  deadMs: number | null;
}

interface Watched {
  client: pg.PoolClient;
  socket: Socket;
  /** Number of whole periods of silence while the connection was in use. */
  periods: number;
}

/**
 * Destroys connections whose other end is gone without a word (a dead network, a frozen host): the driver would wait for an answer
 * for ever, and the kernel notices only after a quarter of an hour. Silence alone is no proof, because the statement may be slow.
 * So the server is probed on a fresh connection, and the old one is destroyed only when the probe fails. Callers that wait on it
 * get `service_unavailable_error`.
 */
export function watchHalfOpen(pool: pg.Pool, options: HalfOpenOptions): void {
  const silentMs = options.silentMs ?? 8_000;
  const inUse = new Set<pg.PoolClient>();
  let probing: Promise<boolean> | null = null;
  const isServerThere = (): Promise<boolean> =>
    (probing ??= probe(options, options.probeMs ?? 5_000).finally(() => {
      probing = null;
    }));

  const onSilence = async (watched: Watched): Promise<void> => {
    const { client, socket } = watched;
    socket.setTimeout(silentMs);
    if (!inUse.has(client)) {
      watched.periods = 0;
      return;
    }
    watched.periods++;
    const bytesBefore = socket.bytesRead;
    const isTooLong = options.deadMs !== null && watched.periods * silentMs > options.deadMs;
    if (!isTooLong && (await isServerThere())) return;
    if (!inUse.has(client) || socket.bytesRead !== bytesBefore || socket.destroyed) return;
    options.log.warn({ silentMs: watched.periods * silentMs }, 'database connection is half-open; given up');
    socket.destroy(Object.assign(new Error('Connection terminated: no answer'), { code: 'ETIMEDOUT' }));
  };

  pool.on('acquire', (client) => void inUse.add(client));
  pool.on('release', (_error, client) => void inUse.delete(client));
  pool.on('remove', (client) => void inUse.delete(client));
  pool.on('connect', (client) => {
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    const watched: Watched = { client, socket: stream, periods: 0 };
    stream.setTimeout(silentMs);
    stream.on('timeout', () => void onSilence(watched));
    stream.on('data', () => {
      watched.periods = 0;
    });
  });
}

/** Whether the server answers at all; a refusal (too many connections, starting up) counts as an answer. */
async function probe({ url, trust }: HalfOpenOptions, limitMs: number): Promise<boolean> {
  const client = new pg.Client({
    ...postgresConnection(url, trust),
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
    application_name: 'baton-probe',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch (error) {
    return /^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '');
  } finally {
    void client.end().catch(() => undefined);
  }
}

import { answerWithin, type Log } from '@baton/kernel';
import { clientTls, type TlsSource } from '@baton/tls';
import { type ChannelModel, connect } from 'amqplib';
import { createReadiness } from '../readiness';
import { createReconnect } from '../reconnect';
import { atMost } from './at-most';

const CONNECT_TIMEOUT_MS = 10_000;
const HEARTBEAT_S = 10;
/** A broker that keeps the connection alive may still never answer one request. */
const SET_UP_MS = 60_000;

/** A connection that reconnects for ever, together with its set-up. */
export interface LastingConnection {
  /**
   * Runs `setUp` on the present connection and again on each later one. Resolves after its first success. When `setUp` fails, the
   * connection is dropped, and both are tried again. Returns the function that removes `setUp`.
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
  isGone: boolean;
  applied: Map<SetUp, Promise<void>>;
}

/** Runs `setUp` once per connection, although both the reconnect and `keep` may ask for it. @throws Error after `limitMs` */
function apply(live: Live, setUp: SetUp, limitMs: number): Promise<void> {
  const known = live.applied.get(setUp);
  if (known) return known;
  const done = answerWithin(limitMs, setUp(live.connection, live.drop));
  live.applied.set(setUp, done);
  return done;
}

/** Runs all set-ups; drops the connection when one fails. */
async function applyAll(live: Live, setUps: readonly SetUp[], limitMs: number): Promise<void> {
  try {
    for (const setUp of setUps) await apply(live, setUp, limitMs);
  } catch (error) {
    live.drop((error as Error).message);
  }
}

export interface ConnectionOptions {
  url: string;
  name: string;
  log: Log;
  /** Authorities to trust when `url` is `amqps:`; absent: the system's authorities. */
  trust?: TlsSource | null | undefined;
  /** For tests: shorter than a minute. */
  setUpMs?: number;
}

/** Connects at once. A set-up calls `drop` to give the connection up, for instance when one of its channels broke. */
export function createLastingConnection(options: ConnectionOptions): LastingConnection {
  const { setUpMs = SET_UP_MS } = options;
  const setUps = new Set<SetUp>();
  const readiness = createReadiness();
  let current: Live | null = null;
  /** Connected, while its set-ups still run. */
  let preparing: Live | null = null;
  let isClosed = false;

  const open = async (): Promise<void> => {
    let live: Live;
    try {
      live = await connectLive(options, (lost, reason) => {
        if (current === lost) {
          current = null;
          readiness.set(false);
        }
        reconnect.later(reason);
      });
    } catch (error) {
      return reconnect.later((error as Error).message);
    }
    if (isClosed) return live.drop('closed');
    preparing = live;
    await applyAll(live, [...setUps], setUpMs);
    preparing = null;
    // A set-up has failed, or `close` or the server ended the connection.
    if (isClosed || live.isGone) return;
    reconnect.succeeded();
    current = live;
    readiness.set(true);
  };
  const reconnect = createReconnect(options.log.child({ connection: options.name }), open);

  /** When connected, only this set-up is missing. Otherwise a connection under way may have started without it. */
  const applyNow = async (setUp: SetUp): Promise<void> => {
    while (!isClosed && setUps.has(setUp)) {
      const here = current;
      if (here) {
        try {
          return await apply(here, setUp, setUpMs);
        } catch (error) {
          here.drop((error as Error).message);
        }
      }
      await readiness.wait(CONNECT_TIMEOUT_MS).catch(() => undefined);
    }
  };

  void open();
  return {
    ready: readiness.wait,
    keep: async (setUp) => {
      setUps.add(setUp);
      await applyNow(setUp);
      return () => void setUps.delete(setUp);
    },
    close: async () => {
      isClosed = true;
      reconnect.stop();
      readiness.close();
      const live = current ?? preparing;
      if (live) await atMost(live.connection.close());
    },
  };
}

/** Connects; `onLoss` is called once, when the connection breaks or is dropped. */
async function connectLive(
  options: ConnectionOptions,
  onLoss: (live: Live, reason: string) => void,
): Promise<Live> {
  const connection = await connectWithin(options);
  const live: Live = {
    connection,
    applied: new Map(),
    isGone: false,
    drop: (reason) => {
      if (live.isGone) return;
      live.isGone = true;
      connection.close().catch(() => undefined);
      onLoss(live, reason);
    },
  };
  connection.on('error', (error) => live.drop(error.message));
  connection.on('close', () => live.drop('closed by the server'));
  return live;
}

async function connectWithin({ url, name, trust }: ConnectionOptions): Promise<ChannelModel> {
  const target = new URL(url);
  if (!target.searchParams.has('heartbeat')) target.searchParams.set('heartbeat', String(HEARTBEAT_S));
  return await connect(target.href, {
    timeout: CONNECT_TIMEOUT_MS,
    noDelay: true,
    keepAlive: true,
    clientProperties: { connection_name: name },
    // Read again for each connection, because certificates are renewed.
    ...(trust && target.protocol === 'amqps:' && clientTls(trust)),
  });
}

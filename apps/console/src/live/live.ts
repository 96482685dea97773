/** One stream of changes for the whole page. Provides its state to the UI and its changes to the query cache. */
import { ApiError, type Client } from '@baton/client';
import { afterDelay } from '@baton/kernel';
import { type Change, createFolder } from './fold-changes';
import { type StreamState, watchStream } from './watch-stream';

export type LiveState = StreamState | 'paused' | 'off';

export interface LiveView {
  state: LiveState;
  /** Number of pending changes while paused. */
  waiting: number;
  /** The tenant whose stream has begun: data read from now on are not older than the stream. Null: no stream has begun. */
  begun: string | null;
}

export interface Live {
  subscribe(listener: () => void): () => void;
  view(): LiveView;
  /**
   * Listens to the changes of a tenant, and stops listening to any other, until the returned function is called. May be called
   * before the first render, and repeatedly.
   */
  start(tenant: string): () => void;
  pause(): void;
  resume(): void;
}

/** Minimum time between two updates of a screen: 10 updates a second. */
const COMMIT_MS = 100;
/** Retry interval for a refused stream: it may become available after an upgrade, or when another stream ends. */
const ASK_AGAIN_MS = 60_000;
/** Screens wait at most this long for the stream to begin. Data read before the stream begins must be read again. */
const BEGIN_MS = 400;

export interface LiveOptions {
  createClient: (o: { tenant: string; watch: (send: typeof fetch) => typeof fetch }) => Client;
  onChanges: (tenant: string, changes: Change[]) => void;
  /** Data on the screen may have missed changes. */
  onReset: (tenant: string) => void;
  onSignedOut: () => void;
}

interface Listening {
  tenant: string;
  stop: () => void;
}

export function createLive(o: LiveOptions): Live {
  const shown = createShown();
  let listening: Listening | null = null;
  const folder = createFolder({
    intervalMs: COMMIT_MS,
    hand: (changes) => o.onChanges(listening?.tenant ?? '', changes),
    onSize: (waiting) => shown.change({ waiting }),
    delay: afterDelay,
  });
  const leave = (): void => {
    listening?.stop();
    listening = null;
    shown.change({ begun: null });
  };
  const onSignedOut = (): void => {
    leave();
    o.onSignedOut();
  };

  return {
    subscribe: shown.subscribe,
    view: shown.view,
    start(tenant) {
      if (listening?.tenant !== tenant) {
        leave();
        folder.clear();
        listening = listen({ ...o, onSignedOut }, tenant, shown, folder.add);
      }
      const own = listening;
      return () => {
        if (listening === own) leave();
      };
    },
    pause() {
      folder.hold();
      shown.change({ isPaused: true, waiting: 0 });
    },
    resume() {
      folder.release();
      shown.change({ isPaused: false, waiting: 0 });
    },
  };
}

interface Parts {
  stream: StreamState | 'off';
  isPaused: boolean;
  waiting: number;
  begun: string | null;
}
type Shown = ReturnType<typeof createShown>;

/** Holds the state of the stream for the UI and notifies listeners of changes. */
function createShown() {
  const listeners = new Set<() => void>();
  let parts: Parts = { stream: 'connecting', isPaused: false, waiting: 0, begun: null };
  let view: LiveView = { state: 'connecting', waiting: 0, begun: null };
  return {
    view: () => view,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    change(next: Partial<Parts>): void {
      parts = { ...parts, ...next };
      const { stream, isPaused, waiting, begun } = parts;
      const state = isPaused && stream !== 'off' ? 'paused' : stream;
      if (state === view.state && waiting === view.waiting && begun === view.begun) return;
      view = { state, waiting, begun };
      for (const listener of listeners) listener();
    },
  };
}

/** Reads the stream of a tenant. It counts as begun with its first message, with a refusal, or after a timeout. */
function listen(o: LiveOptions, tenant: string, shown: Shown, onChange: (change: Change) => void): Listening {
  const takeBack = afterDelay(BEGIN_MS, () => shown.change({ begun: tenant }));
  const onFirst = (): void => {
    // Screens that did not wait for the stream may hold older data.
    if (shown.view().begun === tenant) o.onReset(tenant);
    shown.change({ begun: tenant });
  };
  const become = (stream: StreamState | 'off'): void =>
    shown.change(stream === 'off' ? { stream, begun: tenant } : { stream });
  const stopReading = readOnAndOn(o, tenant, { onChange, onFirst, onSignedOut: o.onSignedOut }, become);
  const stop = (): void => {
    takeBack();
    stopReading();
  };
  return { tenant, stop };
}

interface Reader {
  onChange: (change: Change) => void;
  /** Called when the stream opens for the first time. */
  onFirst: () => void;
  onSignedOut: () => void;
}

/** Reads the stream of a tenant until the returned function is called. Requests a refused stream again later. */
function readOnAndOn(
  o: LiveOptions,
  tenant: string,
  reader: Reader,
  become: (state: StreamState | 'off') => void,
): () => void {
  const stop = new AbortController();
  let takeBack = (): void => undefined;
  const run = (): void => {
    become('connecting');
    const client = o.createClient({ tenant, watch: watchStream(become) });
    readChanges(client, stop.signal, reader, () => o.onReset(tenant))
      .catch((error: unknown) => {
        if (!stop.signal.aborted && error instanceof ApiError && error.status === 401) reader.onSignedOut();
      })
      .finally(() => {
        if (stop.signal.aborted) return;
        become('off');
        takeBack = afterDelay(ASK_AGAIN_MS, run);
      });
  };
  run();
  return () => {
    takeBack();
    stop.abort();
  };
}

async function readChanges(
  client: Client,
  signal: AbortSignal,
  { onChange, onFirst }: Reader,
  onReset: () => void,
): Promise<void> {
  // No kinds are named: the stream then has all kinds that the user may list. A named kind without permission would refuse the
  // whole stream.
  const events = client.events('streamChanges', {}, { signal });
  let isFirst = true;
  for await (const { event, data } of events) {
    if (event === 'change') onChange(data as Change);
    else if (event === 'reset') onReset();
    else if (event === 'ready' && isFirst) {
      isFirst = false;
      onFirst();
    }
  }
}

import type { Log } from '@baton/kernel';
import { type Dispatcher, request } from 'undici';

/** A waiting request, the function that ends its wait, and its index in the list. */
interface Waiting {
  giveUp: () => void;
  place: number;
}

/**
 * Knows whether a service still answers. It probes only while requests wait longer than usual, so an idle gateway costs nothing.
 */
export interface ServiceWatch {
  isAway(): boolean;
  /** Watches a request; `giveUp` is called when the service is found away. Call the returned function when the request is done. */
  enter(giveUp: () => void): () => void;
  /**
   * Reports that an answer has begun: the service is alive, however long its probe waits behind other requests. Later parts of an
   * answer show nothing: a client that reads slowly decides when they leave the buffers.
   */
  heard(): void;
  close(): void;
}

/** Longest usual wait for an answer. */
const USUAL_MS = 2_000;
const PROBE_MS = 1_000;
/** Failed probes in a row until the service counts as away: a single one may be chance. */
const MOST_SILENT = 2;
/** Time between probes of a service that is away. */
const AGAIN_MS = 500;

export interface WatchOptions {
  origin: string;
  service: string;
  log: Log;
  /** Dispatcher with which the service is reached. */
  dispatcher?: Dispatcher;
}

/**
 * A frozen process, or one whose connection was cut silently, keeps its connections open: requests would wait for minutes. When a
 * request has waited for two seconds, the service's /healthz is probed. After two probes without an answer all waiting requests are
 * given up, and new ones are refused at once until the service answers again. A service that is only slow answers its /healthz, or
 * some of its requests: on a machine without a free core, forty long lists keep a probe waiting for more than a second.
 */
export function createServiceWatch(options: WatchOptions): ServiceWatch {
  const { service, log } = options;
  // Not a Set: when a Set grows, its old tables keep their entries and each other alive until a full garbage collection. Whole
  // requests survived because of it, a quarter of all requests of the gateway, and every small collection took 5 ms instead of 1.
  const waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | null = null;
  let silent = 0;
  let isHeard = false;
  let isClosed = false;

  const later = (ms: number): void => {
    if (isClosed) return;
    timer = setTimeout(() => void look(), ms).unref();
  };
  const isAway = (): boolean => silent >= MOST_SILENT;
  const look = async (): Promise<void> => {
    timer = null;
    if (waiting.length === 0 && !isAway()) {
      silent = 0;
      return;
    }
    isHeard = false;
    const answers = (await isAnswering(options)) || isHeard;
    if (answers && isAway()) log.info({ service }, 'service answers again');
    silent = answers ? 0 : silent + 1;
    if (silent === MOST_SILENT)
      log.warn({ service, requests: waiting.length }, 'service does not answer; given up');
    if (isAway()) for (const one of [...waiting]) one.giveUp();
    if (silent === 0 && waiting.length === 0) return;
    later(silent === 0 ? USUAL_MS : isAway() ? AGAIN_MS : 0);
  };
  return {
    isAway,
    enter(giveUp) {
      const one = { giveUp, place: waiting.length };
      waiting.push(one);
      if (timer === null && waiting.length === 1) later(USUAL_MS);
      return () => {
        if (waiting[one.place] !== one) return;
        const last = waiting.pop()!;
        if (last === one) return;
        last.place = one.place;
        waiting[one.place] = last;
      };
    },
    heard() {
      isHeard = true;
    },
    close() {
      isClosed = true;
      if (timer) clearTimeout(timer);
    },
  };
}

/** Probes the service. A refused connection counts as an answer: requests see the refusal themselves. */
async function isAnswering({ origin, dispatcher }: WatchOptions): Promise<boolean> {
  try {
    const { body } = await request(`${origin}/healthz`, {
      signal: AbortSignal.timeout(PROBE_MS),
      ...(dispatcher && { dispatcher }),
    });
    await body.dump();
    return true;
  } catch (error) {
    return (error as Error).name !== 'TimeoutError';
  }
}

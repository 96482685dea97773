import type { Log } from '@baton/kernel';
import { type Dispatcher, request } from 'undici';

/** A request that waits, what ends its waiting, and its place among the others. */
interface Waiting {
  giveUp: () => void;
  place: number;
}

/** Whether a service still answers. Asked only while requests wait for it longer than usual, so rest costs nothing. */
export interface ServiceWatch {
  isAway(): boolean;
  /** Watches a request; `giveUp` is called when the service is found away. Call the answer when it is through. */
  enter(giveUp: () => void): () => void;
  /**
   * An answer has begun: the service is there, however long its probe waits behind others. More of one says nothing: a client
   * that reads slowly decides when it comes out of the buffers.
   */
  heard(): void;
  close(): void;
}

/** Longest usual wait for an answer. */
const USUAL_MS = 2_000;
const PROBE_MS = 1_000;
/** Probes in a row without an answer: one alone may be chance. */
const MOST_SILENT = 2;
/** Between probes of a service that is away. */
const AGAIN_MS = 500;

export interface WatchOptions {
  origin: string;
  service: string;
  log: Log;
  /** How the service is reached. */
  dispatcher?: Dispatcher;
}

/**
 * A process that is frozen, or cut off without a word, keeps its connections open: requests would wait for minutes.
 * When one has waited for two seconds the service's /healthz is asked; two silent probes later all that wait are given
 * up, and new ones are refused at once until it answers again. A service that is only slow answers its /healthz, or some of its
 * requests: on a machine without a free core, forty long lists keep a probe waiting for more than a second.
 */
export function createServiceWatch(options: WatchOptions): ServiceWatch {
  const { service, log } = options;
  // Not a Set: when that grows anew, its old tables keep what was in them, and each other, until a full collection. Whole requests
  // survived by that, a quarter of all that the gateway makes, and every small collection took 5 ms instead of 1.
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

/** A refused connection is an answer of the machine: requests see it themselves. */
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

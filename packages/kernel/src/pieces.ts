import { systemClock } from './clock';

/**
 * Long work that may be interrupted: it yields wherever other work may run, and returns its result. Pure code produces
 * the pieces; the code that owns the event loop decides how long they run at a time.
 */
export type Pieces<T> = Generator<void, T, void>;

/** Number of small items in one piece: about a millisecond of work. */
export const PIECE = 256;

/** After this time other work runs: one request passes the event loop several times. */
const SLICE_MS = 10;

/** Runs all pieces at once. */
export function whole<T>(pieces: Pieces<T>): T {
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
  }
}

/** Runs all pieces and lets the event loop run in between; short work is done at once. */
export async function inPieces<T>(pieces: Pieces<T>): Promise<T> {
  let since = systemClock.monotonic();
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
    if (systemClock.monotonic() - since < SLICE_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    since = systemClock.monotonic();
  }
}

/** Returns a list as JSON text. */
export function* jsonListInPieces(list: readonly unknown[]): Pieces<string> {
  if (list.length <= PIECE) return JSON.stringify(list);
  const parts: string[] = [];
  for (let at = 0; at < list.length; at += PIECE) {
    parts.push(JSON.stringify(list.slice(at, at + PIECE)).slice(1, -1));
    yield;
  }
  return `[${parts.join(',')}]`;
}

import { systemClock } from './clock';

/**
 * Long work that may be interrupted: it yields wherever others may go on, and returns its result. Pure code makes it, who
 * has the event loop decides how long it runs at a time.
 */
export type Pieces<T> = Generator<void, T, void>;

/** How many small things one piece has: about a millisecond of work. */
export const PIECE = 256;

/** From then on others come first: a request of theirs passes the loop several times. */
const SLICE_MS = 10;

/** All of it at once. */
export function whole<T>(pieces: Pieces<T>): T {
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
  }
}

/** All of it, and whatever else waits for the event loop in between; short work is done at once. */
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

/** A list as JSON text. */
export function* jsonListInPieces(list: readonly unknown[]): Pieces<string> {
  if (list.length <= PIECE) return JSON.stringify(list);
  const parts: string[] = [];
  for (let at = 0; at < list.length; at += PIECE) {
    parts.push(JSON.stringify(list.slice(at, at + PIECE)).slice(1, -1));
    yield;
  }
  return `[${parts.join(',')}]`;
}

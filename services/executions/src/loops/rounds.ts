import { backoffMs, isAppError, type Log, systemClock } from '@baton/kernel';
import { LRUCache } from 'lru-cache';
import type { Place, Placed } from '../store/round.sql';
import { byKey, eachAlone } from './each-alone';

/**
 * How far a loop has come in what it looks through, batch by batch: the next batch begins behind the last row that was
 * tried. What cannot be done stays where it is, and would else be all that a batch holds. A round ends at what was there
 * when it began, so what comes meanwhile does not put it off. Of one process: after a start the first round begins.
 */
export interface Round {
  place: Place | null;
  /** What failed is left alone for a while, longer each time: until then (monotonic ms), and how often it did. */
  failed: LRUCache<string, { untilMs: number; times: number }>;
}

const AGAIN = { firstMs: 1_000, maxMs: 30_000, factor: 2, jitter: 0.2 };
/** Of more than these some are tried sooner. */
const MAX_FAILED = 1_000;

export const newRound = (): Round => ({ place: null, failed: new LRUCache({ max: MAX_FAILED }) });

export interface Turn<T> {
  limit: number;
  /** At most `limit` rows behind the place, in the order of `at` and `id`. */
  read(place: Place | null): Promise<readonly T[]>;
  /** Rows that are done together. */
  keyOf(row: T): string;
  work(key: string, rows: readonly T[]): Promise<unknown>;
  /** Keys that are done beside each other; else one after the other. */
  atOnce?: number;
}

/**
 * Does the next batch of a round, each key alone; answers its rows. What fails is logged and fails nothing else: neither the
 * others nor the loop, which would come less often for all.
 * @throws what `read` throws.
 */
export async function inTurn<T extends Placed>(
  { log }: { log: Log },
  round: Round,
  turn: Turn<T>,
): Promise<readonly T[]> {
  let rows = await turn.read(round.place);
  if (rows.length === 0 && round.place !== null) {
    round.place = null;
    rows = await turn.read(null);
  }
  const [first] = rows;
  if (!first) return rows;
  const until = round.place?.until ?? first.now;
  const groups = byKey(rows, turn.keyOf);
  // Taken in their order, so that of all before the last one that was taken none was left out.
  let tried = 0;
  await eachAlone(
    groups,
    async ([key, own]) => {
      tried++;
      round.place = placeOf(own[0]!, until);
      if ((round.failed.get(key)?.untilMs ?? 0) > systemClock.monotonic()) return;
      await turn.work(key, own);
      round.failed.delete(key);
    },
    { onFailed: ([key], err) => noteFailed(log, round, key, err), atOnce: turn.atOnce },
  ).catch(() => undefined);
  // Where nothing answers some were not tried: the next batch begins with them.
  if (tried === groups.size) round.place = rows.length < turn.limit ? null : placeOf(rows.at(-1)!, until);
  return rows;
}

function noteFailed(log: Log, { failed }: Round, key: string, err: unknown): void {
  const times = (failed.get(key)?.times ?? 0) + 1;
  failed.set(key, { times, untilMs: systemClock.monotonic() + backoffMs(times, AGAIN) });
  const fields = { err, key, times };
  if (isAppError(err) && err.entry.retryable) log.warn(fields, 'a loop could not go on with one of many');
  else log.error(fields, 'a loop could not go on with one of many');
}

const placeOf = ({ at, id }: Placed, until: string): Place => ({ at, id, until });

import { backoffMs, isAppError, type Log, systemClock } from '@baton/kernel';
import { LRUCache } from 'lru-cache';
import type { Place, Placed } from '../store/round.sql';
import { byKey, eachAlone } from './each-alone';

/**
 * Progress of a loop through its rows, batch by batch: the next batch begins after the last row that was tried. Rows that keep
 * failing stay in the table, and without this progress they would fill every batch. A round covers the rows that existed when it
 * began, so that new rows do not delay its end. It belongs to one process: after a start the first round begins.
 */
export interface Round {
  place: Place | null;
  /** Failed keys are skipped for a while, longer each time: until `untilMs` (monotonic ms), with the number of failures. */
  failed: LRUCache<string, { untilMs: number; times: number }>;
}

const AGAIN = { firstMs: 1_000, maxMs: 30_000, factor: 2, jitter: 0.2 };
/** With more failed keys than this, some are tried again sooner. */
const MAX_FAILED = 1_000;

export const newRound = (): Round => ({ place: null, failed: new LRUCache({ max: MAX_FAILED }) });

export interface Turn<T> {
  limit: number;
  /** Returns at most `limit` rows after the place, in the order of `at` and `id`. */
  read(place: Place | null): Promise<readonly T[]>;
  /** Returns the key of a row; rows with the same key are processed together. */
  keyOf(row: T): string;
  work(key: string, rows: readonly T[]): Promise<unknown>;
  /** The most keys that are processed in parallel; default: one after the other. */
  atOnce?: number;
}

/**
 * Processes the next batch of a round, each key on its own; returns its rows. A failure is logged and affects nothing else:
 * neither other keys nor the interval of the loop, which would grow for all.
 * @throws the error of `read`.
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
  // Keys are taken in order, so that no key before the last one taken was left out.
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
  // When a service is unavailable, some keys were not tried: the next batch begins with them.
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

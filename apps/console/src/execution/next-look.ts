/** Computes when to read the reasons for waiting again. A reason may end at a time without a message on the stream of changes. */
import type { WaitReason } from '../api/answers';

/** For these kinds `until` is the end of a lease, which a worker renews every few seconds. It is not the end of the waiting. */
const LEASES: ReadonlySet<string> = new Set(['lease', 'left-run']);
/** The manager acts on a deadline with this delay. */
const AFTER_MS = 1_000;

export type WaitTimes = Pick<WaitReason, 'kind' | 'until'>;

/** Returns the latest end of the waiting, to show to people; null: not known. */
export function waitsUntilMs({ kind, until }: WaitTimes): number | null {
  const ms = until === null || LEASES.has(kind) ? Number.NaN : Date.parse(until);
  return Number.isNaN(ms) ? null : ms;
}

/** Returns the ms until the reasons must be read again; null: only a change can end them. Past times are ignored. */
export function nextLookMs(reasons: readonly WaitTimes[], nowMs: number): number | null {
  const times = reasons.map(waitsUntilMs).filter((ms) => ms !== null && ms + AFTER_MS > nowMs) as number[];
  return times.length === 0 ? null : Math.min(...times) + AFTER_MS - nowMs;
}

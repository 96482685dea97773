/** Decides what becomes of a delivery after an attempt. Times are epoch ms. */
import { backoffMs } from '@baton/kernel';

/** Delays before the next attempt: 10 to 15 s, then three times as long each time, at most 6 h; the last third is random. */
const BACKOFF = { firstMs: 15_000, maxMs: 6 * 3_600_000, factor: 3, jitter: 1 / 3 };
/** How long a delivery is tried. */
export const GIVE_UP_MS = 72 * 3_600_000;
const GONE = 410;
/** Statuses whose Retry-After counts (RFC 9110 10.2.3). */
const MAY_SAY_WHEN = [429, 503];

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Circuit breaker: after this many failures in a row, a host gets no request for a time, and then one at a time. */
export const BREAKER_FAILURES = 5;
const BREAKER = { firstMs: 30_000, maxMs: 30 * 60_000, factor: 2, jitter: 0.2 };

/** `status` null: there was no complete answer, for `reason`. */
export type AttemptResult = { status: number; retryAfter?: string } | { status: null; reason: string };

export interface Attempted {
  /** Attempts so far, this one included. */
  attempts: number;
  maxAttempts: number;
  giveUpAtMs: number;
  nowMs: number;
}

export type Outcome =
  | { state: 'delivered' }
  | { state: 'pending'; nextAtMs: number; error: string }
  /** The webhook is disabled for `error`. */
  | { state: 'failed'; error: string };

const isSuccess = ({ status }: AttemptResult): boolean => status !== null && status >= 200 && status < 300;

/** Whether the failure is one of the host: refusals of a single path (4xx) say nothing about other webhooks on it. */
export const isHostFailure = ({ status }: AttemptResult): boolean => status === null || status >= 500;

export function decideOutcome(result: AttemptResult, about: Attempted, random = Math.random()): Outcome {
  if (isSuccess(result)) return { state: 'delivered' };
  const error = result.status === null ? result.reason : `the endpoint answered ${result.status}`;
  if (result.status === GONE) return { state: 'failed', error: 'the endpoint answered 410: it is gone' };
  if (about.attempts >= about.maxAttempts)
    return {
      state: 'failed',
      error: `given up after ${about.attempts} ${about.attempts === 1 ? 'attempt' : 'attempts'}: ${error}`,
    };
  if (about.nowMs >= about.giveUpAtMs)
    return { state: 'failed', error: `given up after ${GIVE_UP_MS / 3_600_000} hours: ${error}` };
  const delayMs = Math.max(backoffMs(about.attempts, BACKOFF, random), retryAfterMs(result, about.nowMs));
  return { state: 'pending', nextAtMs: Math.min(about.nowMs + delayMs, about.giveUpAtMs), error };
}

/** Delay that the endpoint asks for, in ms: seconds or a date, at most the longest delay. 0: it asks for none. */
function retryAfterMs(result: AttemptResult, nowMs: number): number {
  if (result.status === null || result.retryAfter === undefined) return 0;
  if (!MAY_SAY_WHEN.includes(result.status)) return 0;
  const text = result.retryAfter.trim();
  const ms = /^\d{1,9}$/.test(text)
    ? Number(text) * 1_000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - nowMs
      : 0;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), BACKOFF.maxMs) : 0;
}

/** How long a host is left alone after its n-th failure in a row; 0 below the limit. */
export function breakMs(failures: number, random = Math.random()): number {
  return failures < BREAKER_FAILURES ? 0 : backoffMs(failures - BREAKER_FAILURES + 1, BREAKER, random);
}

import { isAppError } from '@baton/kernel';
import { MAX_DELIVERIES } from './topology';

/** The next step for a message whose handler failed. */
export type FailureDecision = { kind: 'retry'; delayMs: number } | { kind: 'park'; reason: string };

/**
 * SQLSTATEs of a value that the database refuses for its content (no UUID, out of range, too large, missing, not in an
 * enumeration): the same message brings the same value again.
 */
const DATA_FAULT = /^((22|54)[0-9A-Z]{3}|23502|23514)$/;

const isDataFault = (error: unknown): boolean => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && DATA_FAULT.test(code);
};

/**
 * Decides between retry and parking. `attempts`: failed deliveries, this one included; `stepsMs`: see `retryStepsMs`. An error that
 * is not an AppError may be temporary.
 */
export function decideFailure(error: unknown, attempts: number, stepsMs: readonly number[]): FailureDecision {
  const text = error instanceof Error ? error.message : String(error);
  if (isAppError(error) && !error.entry.retryable) return { kind: 'park', reason: `${error.code}: ${text}` };
  if (isDataFault(error)) return { kind: 'park', reason: `a value that cannot be stored: ${text}` };
  if (attempts >= MAX_DELIVERIES)
    return { kind: 'park', reason: `failed ${attempts} times, at last: ${text}` };
  return { kind: 'retry', delayMs: stepsMs[Math.min(attempts, stepsMs.length) - 1] as number };
}

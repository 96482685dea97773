import { isAppError } from '@baton/kernel';
import { MAX_DELIVERIES } from './topology';

/** What becomes of a message whose handler failed. */
export type FailureDecision = { kind: 'retry'; delayMs: number } | { kind: 'park'; reason: string };

/** `attempts`: deliveries that have failed, this one included; `stepsMs`: see `retryStepsMs`. An error that is no AppError may be a passing fault. */
export function decideFailure(error: unknown, attempts: number, stepsMs: readonly number[]): FailureDecision {
  const text = error instanceof Error ? error.message : String(error);
  if (isAppError(error) && !error.entry.retryable) return { kind: 'park', reason: `${error.code}: ${text}` };
  if (attempts >= MAX_DELIVERIES)
    return { kind: 'park', reason: `failed ${attempts} times, at last: ${text}` };
  return { kind: 'retry', delayMs: stepsMs[Math.min(attempts, stepsMs.length) - 1] as number };
}

import { executionsRpc, type OperationError } from '@baton/contracts';
import { beginningOf, type Json } from '@baton/kernel';
import type { OperationEnd, OperationFailure, StopReason } from '@baton/plugin-runtime';
import type { HeldTask } from '../claim/held-task';
import { hideIn } from './masks';

const { OutcomeKind } = executionsRpc;
type Outcome = executionsRpc.TaskOutcome;

/**
 * Calls to the engine are limited in size (packages/rpc): a larger result could never be reported, and the execution would not
 * end.
 */
export const MAX_RESULT_BYTES = 16 * 1024 * 1024;
/** The most characters of each text of a failure, which is mostly read by people. */
const MAX_TEXT = 64 * 1024;
const MAX_CAUSE_TEXT = 16 * 1024;
const MAX_NAME = 1_000;
const MAX_CAUSES = 20;

interface Failed {
  kind: executionsRpc.OutcomeKind;
  failure: OperationFailure;
  /** Seconds; null or absent: the engine decides. */
  retryAfter?: number | null;
}

/** Returns the outcome that reports the end of a run to the engine. `mask` hides secrets in texts; `endedAt`: ISO instant. */
export function outcomeOf(
  task: HeldTask,
  end: OperationEnd,
  endedAt: string,
  mask: (text: string) => string,
): Outcome {
  const base: Outcome = {
    taskId: task.taskId,
    executionId: task.executionId,
    attempt: task.attempt,
    kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED,
    resultJson: '',
    errorJson: '',
    retryAfter: -1,
    startedAt: task.startedAt,
    endedAt,
    untilExecution: end.kind === 'deferred' ? (end.untilExecution ?? '') : '',
  };
  const resultJson = end.kind === 'succeeded' ? jsonOf(end.result, mask) : null;
  const resultBytes = resultJson === null ? 0 : Buffer.byteLength(resultJson);
  if (resultJson !== null && resultBytes <= MAX_RESULT_BYTES) return { ...base, resultJson };
  const { kind, failure, retryAfter } = failedOf(end, resultBytes);
  return {
    ...base,
    kind,
    errorJson: JSON.stringify(shortened(failure, mask) satisfies OperationError),
    retryAfter: retryAfter ?? -1,
  };
}

/** Returns the failure of an end. A success is passed here when its result cannot be written as JSON, or is too large. */
function failedOf(end: OperationEnd, resultBytes: number): Failed {
  switch (end.kind) {
    case 'succeeded':
      return {
        kind: OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
        failure: plainFailure(
          'NonRecoverableError',
          resultBytes === 0
            ? 'The result of the operation is not JSON'
            : `The result of the operation has ${resultBytes} bytes; at most ${MAX_RESULT_BYTES} are stored`,
        ),
      };
    case 'failed':
      return {
        kind: end.isRecoverable
          ? OutcomeKind.OUTCOME_KIND_FAILED_RECOVERABLE
          : OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
        failure: end.failure,
        retryAfter: end.retryAfter,
      };
    case 'retry':
      return { kind: OutcomeKind.OUTCOME_KIND_RETRY, failure: end.failure, retryAfter: end.retryAfter };
    case 'deferred':
      return {
        kind: OutcomeKind.OUTCOME_KIND_DEFERRED,
        failure: { exceptionType: 'OperationDeferred', message: end.message, traceback: null, causes: [] },
        retryAfter: end.checkAfter,
      };
    case 'timed-out':
      return { kind: OutcomeKind.OUTCOME_KIND_TIMED_OUT, failure: end.failure };
    case 'stopped':
      return stoppedOf(end.reason);
  }
}

/**
 * Returns the failure of a stopped operation: cancelled, or left because the worker stops. The engine gives a left one to another
 * worker, as after a loss.
 */
function stoppedOf(reason: StopReason): Failed {
  return reason === 'cancelled'
    ? {
        kind: OutcomeKind.OUTCOME_KIND_CANCELLED,
        failure: plainFailure(
          'ProcessKilled',
          'The operation was killed because its execution was cancelled',
        ),
      }
    : {
        kind: OutcomeKind.OUTCOME_KIND_LEFT,
        failure: plainFailure('WorkerStopped', 'The worker was stopped before the operation had ended'),
      };
}

function plainFailure(exceptionType: string, message: string): OperationFailure {
  return {
    exceptionType,
    message,
    traceback: null,
    causes: [{ type: exceptionType, message, traceback: '' }],
  };
}

/** Shortens the texts of a failure. Secrets are masked first: a secret that is cut in two would not be found. */
function shortened(
  { exceptionType, message, traceback, causes }: OperationFailure,
  mask: (text: string) => string,
): OperationFailure {
  const told = (text: string, most: number): string => beginningOf(mask(text), most);
  return {
    exceptionType: told(exceptionType, MAX_NAME),
    message: told(message, MAX_TEXT),
    traceback: traceback === null ? null : told(traceback, MAX_TEXT),
    causes: causes.slice(0, MAX_CAUSES).map((cause) => ({
      type: told(cause.type, MAX_NAME),
      message: told(cause.message, MAX_CAUSE_TEXT),
      traceback: told(cause.traceback, MAX_CAUSE_TEXT),
    })),
  };
}

function jsonOf(result: unknown, mask: (text: string) => string): string | null {
  if (result === null || result === undefined) return 'null';
  try {
    const json = JSON.stringify(result) ?? null;
    // Secrets are rare: a secret visible in a value is visible in its JSON too, so the JSON is tested first.
    if (json === null || mask(json) === json) return json;
    return JSON.stringify(hideIn(JSON.parse(json) as Json, mask));
  } catch {
    return null;
  }
}

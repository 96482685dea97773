import { executionsRpc, type OperationError } from '@baton/contracts';
import type { OperationEnd, OperationFailure, StopReason } from '@baton/plugin-runtime';
import type { HeldTask } from './held-task';

const { OutcomeKind } = executionsRpc;
type Outcome = executionsRpc.TaskOutcome;

interface Failed {
  kind: executionsRpc.OutcomeKind;
  failure: OperationFailure;
  /** Seconds; null or absent: as the engine thinks best. */
  retryAfter?: number | null;
}

/** How the end of a run is told to the engine. `mask` hides secrets in texts; `endedAt`: ISO instant. */
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
  const resultJson = end.kind === 'succeeded' ? jsonOf(end.result) : null;
  if (resultJson !== null) return { ...base, resultJson: mask(resultJson) };
  const { kind, failure, retryAfter } = failedOf(end);
  return {
    ...base,
    kind,
    errorJson: mask(JSON.stringify(failure satisfies OperationError)),
    retryAfter: retryAfter ?? -1,
  };
}

/** A success gets here when its result cannot be written as JSON. */
function failedOf(end: OperationEnd): Failed {
  switch (end.kind) {
    case 'succeeded':
      return {
        kind: OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
        failure: plainFailure('NonRecoverableError', 'The result of the operation is not JSON'),
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

/** Cancelled, or the worker goes down (then another worker may try again). */
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
        kind: OutcomeKind.OUTCOME_KIND_FAILED_RECOVERABLE,
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

function jsonOf(result: unknown): string | null {
  if (result === null || result === undefined) return 'null';
  try {
    return JSON.stringify(result) ?? null;
  } catch {
    return null;
  }
}

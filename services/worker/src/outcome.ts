import { executionsRpc, type OperationError } from '@baton/contracts';
import type { OperationEnd, OperationFailure } from '@baton/plugin-runtime';
import type { HeldTask } from './held-task';

const { OutcomeKind } = executionsRpc;
type Outcome = executionsRpc.TaskOutcome;

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
  };
  const failed = (
    kind: executionsRpc.OutcomeKind,
    failure: OperationFailure,
    retryAfter: number | null = null,
  ): Outcome => ({
    ...base,
    kind,
    errorJson: mask(JSON.stringify(failure satisfies OperationError)),
    retryAfter: retryAfter ?? -1,
  });
  switch (end.kind) {
    case 'succeeded': {
      const json = jsonOf(end.result);
      if (json === null)
        return failed(
          OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
          plainFailure('NonRecoverableError', 'The result of the operation is not JSON'),
        );
      return { ...base, resultJson: mask(json) };
    }
    case 'failed':
      return failed(
        end.isRecoverable
          ? OutcomeKind.OUTCOME_KIND_FAILED_RECOVERABLE
          : OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
        end.failure,
        end.retryAfter,
      );
    case 'retry':
      return failed(OutcomeKind.OUTCOME_KIND_RETRY, end.failure, end.retryAfter);
    case 'timed-out':
      return failed(OutcomeKind.OUTCOME_KIND_TIMED_OUT, end.failure);
    case 'stopped':
      return end.reason === 'cancelled'
        ? failed(
            OutcomeKind.OUTCOME_KIND_CANCELLED,
            plainFailure('ProcessKilled', 'The operation was killed because its execution was cancelled'),
          )
        : failed(
            OutcomeKind.OUTCOME_KIND_FAILED_RECOVERABLE,
            plainFailure('WorkerStopped', 'The worker was stopped before the operation had ended'),
          );
  }
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

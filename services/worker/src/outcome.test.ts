import { executionsRpc } from '@baton/contracts';
import type { OperationEnd } from '@baton/plugin-runtime';
import type { HeldTask } from './held-task';
import { MAX_RESULT_BYTES, outcomeOf } from './outcome';

const { OutcomeKind: Kind } = executionsRpc;
const task = { taskId: 't', executionId: 'e', attempt: 2, startedAt: 'start' } as HeldTask;
const failure = { exceptionType: 'X', message: 'with secret', traceback: null, causes: [] };
const outcome = (end: OperationEnd) =>
  outcomeOf(task, end, 'end', (text) => text.replaceAll('secret', '***'));

it.each<[OperationEnd, number, number]>([
  [
    { kind: 'failed', isRecoverable: true, failure, retryAfter: null },
    Kind.OUTCOME_KIND_FAILED_RECOVERABLE,
    -1,
  ],
  [{ kind: 'failed', isRecoverable: true, failure, retryAfter: 0 }, Kind.OUTCOME_KIND_FAILED_RECOVERABLE, 0],
  [
    { kind: 'failed', isRecoverable: false, failure, retryAfter: null },
    Kind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
    -1,
  ],
  [{ kind: 'retry', failure, retryAfter: 7 }, Kind.OUTCOME_KIND_RETRY, 7],
  [{ kind: 'timed-out', failure }, Kind.OUTCOME_KIND_TIMED_OUT, -1],
])('a failure keeps its kind and delay, its texts masked: %#', (end, kind, retryAfter) => {
  const told = outcome(end);
  expect(told).toMatchObject({
    taskId: 't',
    attempt: 2,
    kind,
    retryAfter,
    startedAt: 'start',
    endedAt: 'end',
    resultJson: '',
  });
  expect(JSON.parse(told.errorJson)).toEqual({ ...failure, message: 'with ***' });
});

it('one that waits says for which execution, and after how many seconds it looks again', () => {
  const told = outcome({ kind: 'deferred', message: 'for a secret', untilExecution: 'child', checkAfter: 5 });
  expect(told).toMatchObject({
    kind: Kind.OUTCOME_KIND_DEFERRED,
    untilExecution: 'child',
    retryAfter: 5,
    resultJson: '',
  });
  expect(JSON.parse(told.errorJson)).toMatchObject({ message: 'for a ***' });
});

it('a result is JSON or a final failure', () => {
  expect(outcome({ kind: 'succeeded', result: undefined }).resultJson).toBe('null');
  expect(outcome({ kind: 'succeeded', result: { a: 'secret' } }).resultJson).toBe('{"a":"***"}');
  for (const result of [() => 1, 1n, Object.assign([], { toJSON: () => undefined })]) {
    expect(outcome({ kind: 'succeeded', result })).toMatchObject({
      kind: Kind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
      errorJson: expect.stringContaining('not JSON'),
    });
  }
});

it('what no call could carry is told shortened: a result as a failure, a failure with its beginning', () => {
  const large = 'é'.repeat(MAX_RESULT_BYTES / 2);
  expect(outcome({ kind: 'succeeded', result: large })).toMatchObject({
    kind: Kind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
    errorJson: expect.stringContaining(`${MAX_RESULT_BYTES + 2} bytes; at most ${MAX_RESULT_BYTES}`),
  });
  const cause = { type: 'X', message: large, traceback: large };
  const { errorJson } = outcome({
    kind: 'retry',
    failure: { exceptionType: 'X', message: large, traceback: large, causes: Array(1000).fill(cause) },
    retryAfter: null,
  });
  expect(errorJson.length).toBeLessThan(MAX_RESULT_BYTES);
  expect(JSON.parse(errorJson)).toMatchObject({
    exceptionType: 'X',
    message: expect.stringMatching(/^é+ \.\.\. \(8388608 characters\)$/),
  });
});

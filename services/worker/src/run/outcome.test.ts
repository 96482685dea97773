import { executionsRpc } from '@baton/contracts';
import type { OperationEnd } from '@baton/plugin-runtime';
import type { HeldTask } from '../claim/held-task';
import { createMasks } from './masks';
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

it('hides secrets in values and leaves the result JSON, whatever they look like', () => {
  const masks = createMasks();
  masks.add([123456, 'null', '"}],', 'ends with "', 'visible?']);
  const told = (end: OperationEnd) => outcomeOf(task, end, 'end', masks.hide);
  const result = {
    n: 123456,
    none: null,
    list: [{}],
    text: 'a null',
    quote: 'it ends with "',
    'visible?': 1,
  };
  expect(JSON.parse(told({ kind: 'succeeded', result }).resultJson)).toEqual({
    n: '********',
    none: null,
    list: [{}],
    text: 'a ********',
    quote: 'it ********',
    '********': 1,
  });
  const failed = { exceptionType: 'X', message: 'a "}], 123456', traceback: null, causes: [] };
  const { errorJson } = told({ kind: 'failed', isRecoverable: true, failure: failed, retryAfter: null });
  expect(JSON.parse(errorJson)).toEqual({ ...failed, message: 'a ******** ********' });
});

it('hides a secret at the place where a text is cut, and shortens names too', () => {
  const masks = createMasks();
  masks.add('secret-value');
  const message = `${'x'.repeat(64 * 1024 - 6)}secret-value`;
  const failed = { exceptionType: 'X'.repeat(100_000), message, traceback: null, causes: [] };
  const { errorJson } = outcomeOf(
    task,
    { kind: 'retry', failure: failed, retryAfter: null },
    'end',
    masks.hide,
  );
  expect(errorJson).not.toContain('secre');
  expect(JSON.parse(errorJson).exceptionType.length).toBeLessThan(1_100);
});

it('has the largest failure in what a call can carry', () => {
  const huge = '\u0001'.repeat(1024 * 1024);
  const causes = Array(100).fill({ type: huge, message: huge, traceback: huge });
  const failed = { exceptionType: huge, message: huge, traceback: huge, causes };
  const { errorJson } = outcome({ kind: 'retry', failure: failed, retryAfter: null });
  expect(Buffer.byteLength(errorJson)).toBeLessThan(8 * 1024 * 1024);
});

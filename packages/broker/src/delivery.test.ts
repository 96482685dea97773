import { AppError } from '@baton/kernel';
import { decideFailure } from './delivery';
import { MAX_DELIVERIES, retryStepsMs } from './topology';

const retryable = new AppError('service_unavailable_error', 'away');
const permanent = new AppError('not_found_error', 'gone');

test('waits 1 s, 5 s, then 30 s each time, and gives up after ten failures', () => {
  const delays = Array.from({ length: MAX_DELIVERIES }, (_, i) =>
    decideFailure(retryable, i + 1, retryStepsMs),
  );
  const waits = delays.map((decision) => (decision.kind === 'retry' ? decision.delayMs : decision.kind));
  expect(waits).toEqual([1_000, 5_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000, 'park']);
});

test('an error that cannot pass parks at once; one of unknown kind may pass', () => {
  expect(decideFailure(permanent, 1, retryStepsMs)).toEqual({
    kind: 'park',
    reason: 'not_found_error: gone',
  });
  expect(decideFailure(new TypeError('x is undefined'), 1, retryStepsMs).kind).toBe('retry');
  expect(decideFailure('thrown text', MAX_DELIVERIES, retryStepsMs)).toMatchObject({
    kind: 'park',
    reason: expect.stringContaining('thrown text'),
  });
});

test('a value that the database refuses for what it is comes back with the same message: parked at once', () => {
  const refused = Object.assign(new Error('invalid input syntax for type uuid: "x"'), { code: '22P02' });
  expect(decideFailure(refused, 1, retryStepsMs)).toEqual({
    kind: 'park',
    reason: 'a value that cannot be stored: invalid input syntax for type uuid: "x"',
  });
  const lost = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(decideFailure(lost, 1, retryStepsMs).kind).toBe('retry');
});

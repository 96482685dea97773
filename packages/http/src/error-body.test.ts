import { AppError } from '@baton/kernel';
import { toAppError } from './error-body';

const thrown = (code: string) => Object.assign(new Error('of the driver'), { code });

test.each([
  ['23503', 'conflict_error', 409],
  ['23505', 'conflict_error', 409],
  ['23514', 'internal_server_error', 500],
])('what the database refused with %s is answered as %s', (state, code, http) => {
  const error = toAppError(thrown(state));
  expect([error.code, error.entry.http]).toEqual([code, http]);
  expect(error.message).not.toContain('of the driver');
});

test('what was put into words stays', () => {
  const error = new AppError('not_found_error', 'gone');
  expect(toAppError(error)).toBe(error);
});

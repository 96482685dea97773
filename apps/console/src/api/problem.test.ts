import { ApiError } from '@baton/client';
import { isSignedOut, problemOf } from './problem';

const refusal = (status: number, code: string) => new ApiError(status, code, 'said', { field: 'x' }, 'r1');

test.each([
  [401, 'unauthorized_error', 'signed-out'],
  [403, 'forbidden_error', 'forbidden'],
  [404, 'not_found_error', 'missing'],
  [409, 'conflict_error', 'refused'],
  [502, 'http_502', 'offline'],
  [503, 'maintenance_mode_active', 'refused'],
])('%d %s is %s', (status, code, kind) =>
  expect(problemOf(refusal(status, code))).toEqual({
    kind,
    code,
    message: 'said',
    requestId: 'r1',
    details: { field: 'x' },
  }),
);

test('a request that nobody answered is offline, a fault of the page is not', () => {
  expect(problemOf(new TypeError('Failed to fetch')).kind).toBe('offline');
  expect(problemOf(new RangeError('a fault')).kind).toBe('refused');
});

test('only 401 ends a session', () => {
  expect(isSignedOut(refusal(401, 'x'))).toBe(true);
  expect(isSignedOut(refusal(403, 'x')) || isSignedOut(new TypeError('x'))).toBe(false);
});

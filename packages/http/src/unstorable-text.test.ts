import { AppError } from '@baton/kernel';
import { placed, refuseUnstorable, unstorablePlace } from './unstorable-text';

const HALF = '\ud800';

test.each([
  [{ id: 'a\0' }, 'id'],
  [{ id: ['a', HALF] }, 'id'],
  [{ 'a\0': '1' }, 'a\0'],
])('the parameter is named: %j', (parameters, field) => {
  expect(() => refuseUnstorable(parameters)).toThrow(
    expect.objectContaining({ code: 'bad_parameters_error', details: expect.objectContaining({ field }) }),
  );
});

test('other texts pass, pairs of surrogates too', () => {
  expect(() => refuseUnstorable({ id: ['😀', 'é'], none: undefined })).not.toThrow();
  expect(unstorablePlace({ a: ['😀', 1, null, true] })).toBeNull();
});

test.each([
  ['x\0', 'body'],
  [{ labels: [{ env: 'x' }, { env: HALF }] }, 'labels.1.env'],
  [{ inputs: { 'a\0': 1 } }, 'inputs.a\0'],
])('the place in a body is found: %j', (body, place) => {
  expect(unstorablePlace(body)).toBe(place);
});

test('a refusal without a field gets it; others stay as they are', () => {
  const refusal = new AppError('bad_parameters_error', 'no', { expected: 'text' });
  expect(placed(refusal, { a: '\0' })).toMatchObject({ details: { expected: 'text', field: 'a' } });
  const named = new AppError('bad_parameters_error', 'no', { field: 'b' });
  const other = new Error('no');
  for (const [error, body] of [
    [refusal, { a: 'x' }],
    [named, { a: '\0' }],
    [other, { a: '\0' }],
  ])
    expect(placed(error, body)).toBe(error);
});

import { ApiError } from '@baton/client';
import { refusalsOf } from './server-errors';

const refused = (details: Record<string, unknown>) =>
  new ApiError(400, 'deployment_creation_error', 'No.', details, null);

test('each refusal stands beside its field', () =>
  expect(
    refusalsOf(
      refused({
        diagnostics: [
          { path: 'inputs.port', message: 'Too high.' },
          { path: 'inputs.disk.size', message: 'Too small.' },
        ],
      }),
      ['port', 'disk'],
    ),
  ).toEqual({ errors: { port: 'Too high.', 'disk.size': 'Too small.' }, isWhole: true }));

test('what belongs to no field is said besides', () => {
  expect(refusalsOf(refused({ field: 'blueprint_id' }), ['blueprint_id'])).toEqual({
    errors: {},
    isWhole: false,
  });
  expect(refusalsOf(refused({ diagnostics: [{ path: 'inputs.other', message: 'No.' }] }), ['port'])).toEqual({
    errors: {},
    isWhole: false,
  });
  expect(refusalsOf(new TypeError('offline'), ['port'])).toEqual({ errors: {}, isWhole: false });
  expect(refusalsOf(null, [])).toEqual({ errors: {}, isWhole: true });
});

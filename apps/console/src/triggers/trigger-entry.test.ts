import { bodyOf, entryOf, faultsOf, newEntry } from './trigger-entry';
import type { TriggerDetail } from './triggers';

const stored = {
  deployment_id: 'web',
  workflow_id: 'update',
  parameters: { commit: '/head_commit/id' },
  fixed_parameters: { delta: 2 },
} as unknown as TriggerDetail;

test('what is stored comes back unchanged', () => {
  const { deployment_id, workflow_id, parameters, fixed_parameters } = stored;
  expect(bodyOf(entryOf(stored))).toEqual({ deployment_id, workflow_id, parameters, fixed_parameters });
  expect(faultsOf(entryOf(stored))).toEqual({});
});

test('rows that nobody filled in are left out', () => {
  const entry = { ...newEntry('web'), parameters: [['', ''] as const, ['a', ' /b '] as const] };
  expect(bodyOf(entry)).toMatchObject({ parameters: { a: '/b' }, fixed_parameters: {} });
  expect(faultsOf(entry)).toEqual({});
});

test.each([
  [['commit', 'head/id'], 'A pointer begins with /, such as /head_commit/id.'],
  [['commit', '/a~2'], 'A pointer begins with /, such as /head_commit/id.'],
  [['commit', ''], 'A pointer begins with /, such as /head_commit/id.'],
  [['', '/a'], 'The parameter is missing.'],
  [['delta', '/a'], 'This parameter is fixed as well.'],
] as const)('the row %j is refused in words', (row, fault) => {
  expect(faultsOf({ ...entryOf(stored), parameters: [row] })).toEqual({ 'parameters[0]': fault });
});

test.each(['[1]', 'null', '"text"', '{'])('%s is no object of fixed parameters', (fixed) => {
  expect(faultsOf({ ...entryOf(stored), fixed })).toEqual({ fixed_parameters: 'This is no JSON object.' });
});

import { beginningOf, deploymentErrors, hasErrors, isId } from './new-deployment';

test.each([
  ['web-1.a_b~c', true],
  ['', false],
  ['a b', false],
  ['../x', false],
  ['a'.repeat(257), false],
])('%s is an id: %s', (id, expected) => expect(isId(id)).toBe(expected));

test('what is wrong is said by its field', () => {
  const fine = { ...beginningOf('tenant'), id: 'web' };
  expect(hasErrors(deploymentErrors(fine, false))).toBe(false);
  expect(deploymentErrors(fine, true).id).toBe('A deployment of this id is there already.');
  expect(deploymentErrors({ ...fine, id: '' }, false).id).toBe('A value is needed.');
  expect(deploymentErrors({ ...fine, displayName: 'x'.repeat(257) }, false)).toHaveProperty('display_name');
  expect(hasErrors(deploymentErrors({ ...fine, labels: [{ key: '1', value: '' }] }, false))).toBe(true);
});

test('a deployment is not wider than its blueprint', () =>
  expect([beginningOf('private').visibility, beginningOf('global').visibility]).toEqual([
    'private',
    'tenant',
  ]));

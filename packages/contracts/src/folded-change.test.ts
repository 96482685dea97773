import { foldedChange } from './folded-change';
import type { ResourceChange } from './resource-changes';

const change = (
  operation: ResourceChange['operation'],
  more: Partial<ResourceChange> = {},
): ResourceChange => ({
  kind: 'deployments',
  id: 'd',
  operation,
  ...more,
});

test.each([
  ['created', 'changed', 'created'],
  ['changed', 'changed', 'changed'],
  ['created', 'deleted', 'deleted'],
  ['deleted', 'created', 'created'],
  // Reported late, e.g. from an execution that began just before.
  ['deleted', 'changed', 'deleted'],
  ['changed', 'deleted', 'deleted'],
] as const)('%s and then %s is %s', (first, second, both) => {
  expect(foldedChange(change(first), change(second)).operation).toBe(both);
});

test('facts are those that were said last', () => {
  const before = change('created', { createdBy: 'ann', visibility: 'private' });
  expect(foldedChange(before, change('changed'))).toEqual(before);
  expect(foldedChange(before, change('changed', { visibility: 'tenant' }))).toEqual({
    ...before,
    visibility: 'tenant',
  });
  expect(foldedChange(undefined, before)).toBe(before);
});

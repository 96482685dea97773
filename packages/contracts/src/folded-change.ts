/** Merges two changes of one resource into one. Without schemas: the console bundles this file alone. */

/** The part of a change that decides how two changes are merged. */
export interface FoldableChange {
  operation: 'created' | 'changed' | 'deleted';
}

/**
 * Merges two changes of one resource, in their order. A created and then changed resource counts as created; otherwise
 * the later change counts. Fields that the later one lacks come from the earlier one. A deleted resource stays deleted
 * until it is created again: a change that is reported late, e.g. from an execution that began just before, does not
 * undo the delete.
 */
export function foldedChange<Change extends FoldableChange>(
  before: Change | undefined,
  next: Change,
): Change {
  if (!before) return next;
  if (before.operation === 'deleted' && next.operation === 'changed') return before;
  const isStillNew = before.operation === 'created' && next.operation === 'changed';
  return { ...before, ...next, operation: isStillNew ? 'created' : next.operation };
}

import { withRetired } from './retired-columns';

type Item = Record<string, unknown>;

/** A deployment modification, and the copies of node instances in it, with their retired columns. */
export function presentModification(item: Item): Item {
  const instances = item.node_instances as Record<string, Item[]> | undefined;
  if (!instances) return withRetired('modification', item);
  const copies = (name: string) =>
    (instances[name] ?? []).map((one) => withRetired('nodeInstance', one)).sort(byNodeAndIndex);
  const before = copies('before_modification');
  const added = (instances.added_and_related ?? []).map((one) => changedInstance(one, before));
  const removed = (instances.removed_and_related ?? []).map((one) => changedInstance(one, before));
  return withRetired('modification', {
    ...item,
    node_instances: {
      added_and_related: added,
      extended_and_related: gaining(added, 'extended'),
      reduced_and_related: gaining(removed, 'reduced'),
      removed_and_related: removed,
      before_modification: before,
      before_rollback: copies('before_rollback'),
    },
  });
}

/** The original's order is that of its storage; this one is known and mostly the same. */
const byNodeAndIndex = (a: Item, b: Item) =>
  String(a.node_id).localeCompare(String(b.node_id)) || Number(a.index) - Number(b.index);

/** One that was there before has all its fields, and the relationships that it gains or loses. */
function changedInstance(one: Item, before: readonly Item[]) {
  const was = before.find(({ id }) => id === one.id);
  return { host_id: null, ...was, ...one };
}

/** Of those that stay, the ones whose relationships change. */
const gaining = (instances: readonly Item[], modification: string) =>
  instances
    .filter((one) => one.modification === 'related' && (one.relationships as unknown[]).length > 0)
    .map((one) => ({ ...one, modification }));

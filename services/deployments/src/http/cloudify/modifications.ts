import { withRetired } from './retired-columns';

type Item = Record<string, unknown>;

/** Returns a deployment modification, and the copies of node instances in it, with their retired columns. */
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

/** The order in the original depends on its database; this order is defined and mostly the same. */
const byNodeAndIndex = (a: Item, b: Item) =>
  String(a.node_id).localeCompare(String(b.node_id)) || Number(a.index) - Number(b.index);

/** Returns a changed instance; one that existed before has all its fields, and only the relationships that it gains or loses. */
function changedInstance(one: Item, before: readonly Item[]) {
  const was = before.find(({ id }) => id === one.id);
  return { host_id: null, ...was, ...one };
}

/** Returns the remaining instances whose relationships change. */
const gaining = (instances: readonly Item[], modification: string) =>
  instances
    .filter((one) => one.modification === 'related' && (one.relationships as unknown[]).length > 0)
    .map((one) => ({ ...one, modification }));

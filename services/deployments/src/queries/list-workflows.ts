import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import type { RawJson } from '@baton/kernel';
import type { WorkflowEntry } from '../domain/workflow-entries';
import { type DeploymentSelector, type ListDeps, listDeployments } from './list-deployments';

/** At most this many deployments are looked at for their workflows. */
const MAX_DEPLOYMENTS = 10_000;

/**
 * Workflows of the deployments that match, each name once (reference/rest-api.md 5.2); `_common_only`: only those that
 * every one of them has.
 */
export async function listWorkflows(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Promise<ListPage<WorkflowEntry>> {
  const everything = {
    ...list,
    include: ['id', 'workflows'],
    sort: [],
    getAll: false,
    size: MAX_DEPLOYMENTS,
    offset: 0,
  };
  const { items } = await listDeployments(deps, principal, everything, selector);
  const byName = new Map<string, { entry: WorkflowEntry; count: number }>();
  for (const deployment of items) {
    for (const entry of (deployment.workflows as RawJson).value as WorkflowEntry[]) {
      const known = byName.get(entry.name);
      if (!known) byName.set(entry.name, { entry, count: 1 });
      else {
        known.count += 1;
        if (entry.is_available && !known.entry.is_available) known.entry = entry;
      }
    }
  }
  const isCommonOnly = list.extra._common_only?.at(-1)?.toLowerCase() === 'true';
  const found = [...byName.values()]
    .filter(({ count }) => !isCommonOnly || count === items.length)
    .map(({ entry }) => entry);
  found.sort((a, b) => (a.name < b.name ? -1 : 1));
  const page = list.getAll ? found : found.slice(list.offset, list.offset + list.size);
  return { items: page, total: found.length, filtered: selector.rules === null ? null : 0 };
}

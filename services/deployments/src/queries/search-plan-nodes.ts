import { isAdministrator, type ListPage, type ListQuery, type Principal } from '@baton/contracts';
import { isJsonObject, type JsonObject, notFound } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import type { ModelSearch } from './search-model';

/** Node dicts of a blueprint's plan, for searches that name a blueprint instead of a deployment. */
export async function searchPlanNodes(
  deps: ServiceDeps,
  principal: Principal,
  list: ListQuery,
  search: ModelSearch,
  attribute: 'id' | 'type',
): Promise<ListPage<Record<string, unknown>>> {
  const caller = { username: principal.username, isAdministrator: isAdministrator(principal) };
  const blueprint = await deps.catalog.blueprint(principal.tenant, search.blueprintId!, caller);
  if (!blueprint) throw notFound('Blueprint', search.blueprintId!);
  const nodes = (Array.isArray(blueprint.plan.nodes) ? blueprint.plan.nodes : []).filter(
    (node): node is JsonObject => isJsonObject(node),
  );
  const found = nodes.filter((node) => fits(String(node[attribute]), search, list));
  const items = list.getAll ? found : found.slice(list.offset, list.offset + list.size);
  return {
    items: items.map((node) => ({ ...node, blueprint_id: blueprint.id })),
    total: found.length,
    filtered: nodes.length - found.length,
  };
}

function fits(text: string, search: ModelSearch, list: ListQuery): boolean {
  if (list.search !== null && !text.toLowerCase().includes(list.search.toLowerCase())) return false;
  return search.rules.every((rule) => {
    if (rule.operator === 'contains') return rule.values.some((value) => text.includes(value));
    if (rule.operator === 'starts_with')
      return rule.values.some((value) => text.toLowerCase().startsWith(value.toLowerCase()));
    if (rule.operator === 'ends_with')
      return rule.values.some((value) => text.toLowerCase().endsWith(value.toLowerCase()));
    return rule.values.includes(text);
  });
}

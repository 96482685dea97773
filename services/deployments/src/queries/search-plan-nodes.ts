import { isAdministrator, type ListPage, type ListQuery, type Principal } from '@baton/contracts';
import { isJsonObject, type JsonObject, notFound } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { fitsRule } from '../domain/rule-match';
import type { ModelSearch } from './search-model';

/** Searches the nodes of a blueprint's plan, for requests that name a blueprint instead of a deployment. */
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
  const found = nodes.filter((node) => fits(node, search, list, attribute));
  const items = list.getAll ? found : found.slice(list.offset, list.offset + list.size);
  return {
    items: items.map((node) => ({ ...node, blueprint_id: blueprint.id })),
    total: found.length,
    filtered: nodes.length - found.length,
  };
}

function fits(node: JsonObject, search: ModelSearch, list: ListQuery, searched: 'id' | 'type'): boolean {
  const text = String(node[searched]).toLowerCase();
  if (list.search !== null && !text.includes(list.search.toLowerCase())) return false;
  return search.rules.every((rule) => fitsRule(rule, valuesOf(node, rule.key)));
}

function valuesOf(node: JsonObject, key: string): string[] {
  if (key === 'operation_name') return isJsonObject(node.operations) ? Object.keys(node.operations) : [];
  const value = node[key];
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');
}

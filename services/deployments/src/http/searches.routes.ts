import { deploymentSearchesRoutes } from '@baton/contracts/http/deployment-searches';
import type { ListPage, ListQuery } from '@baton/contracts';
import { type BoundRoute, bindRoutes, listEnvelope, type Wire } from '@baton/http';
import { sql } from 'kysely';
import type { ServiceDeps } from '../deps';
import { listDeployments } from '../queries/list-deployments';
import { listNodeInstances } from '../queries/list-node-instances';
import { listNodes } from '../queries/list-nodes';
import { listWorkflows } from '../queries/list-workflows';
import { inDeployment, type ModelSearch, readModelSearch, searchCapabilities, searchScalingGroups } from '../queries/search-model';
import { searchPlanNodes } from '../queries/search-plan-nodes';
import { deploymentSelector } from './deployment-selector';
import { onWire } from './wire';

/** POST /searches/{kind} of the model (spec v3.1 part 2 "Searches", reference/rest-api.md 5.11). */
export function searchesHttp(deps: ServiceDeps): BoundRoute[] {
  const db = deps.db.query;
  return bindRoutes(deploymentSearchesRoutes, {
    searchDeployments: async ({ principal, list, body, wire }) => {
      const page = await listDeployments(deps, principal, list, await deploymentSelector(db, principal, list, body));
      return listEnvelope({ ...page, items: page.items.map((item) => onWire({ wire, version: 'v3.1' }, 'deployment', item)) }, list);
    },
    searchWorkflows: async ({ principal, list, body }) =>
      listEnvelope(await listWorkflows(deps, principal, list, await deploymentSelector(db, principal, list, body)), list),
    searchNodes: async ({ principal, list, body, wire }) => {
      const search = readModelSearch(body, list, { nameAttribute: 'id', needsModel: true });
      return nodes(search, list, wire, () => listNodes(deps, principal, plain(list), { rules: search.rules, where: inDeployment(sql`n.deployment_key`, search.deploymentId) }), () =>
        searchPlanNodes(deps, principal, list, search, 'id'));
    },
    searchNodeTypes: async ({ principal, list, body, wire }) => {
      const search = readModelSearch(body, list, { nameAttribute: 'type', needsModel: true });
      return nodes(search, list, wire, () => listNodes(deps, principal, plain(list), { rules: search.rules, where: inDeployment(sql`n.deployment_key`, search.deploymentId), search: sql`n.type` }), () =>
        searchPlanNodes(deps, principal, list, search, 'type'));
    },
    searchNodeInstances: async ({ principal, list, body, wire }) => {
      const search = readModelSearch(body, list, { nameAttribute: 'id', needsModel: false });
      const page = await listNodeInstances(db, principal, plain(list, ['node_id']), { rules: search.rules, where: inDeployment(sql`ni.deployment_key`, search.deploymentId) });
      return listEnvelope({ ...page, items: page.items.map((item) => onWire({ wire, version: 'v3.1' }, 'nodeInstance', item)) }, list);
    },
    searchCapabilities: async ({ principal, list, body }) => {
      const search = readModelSearch(body, list, { nameAttribute: 'name', needsModel: true });
      // valid_values test the value of a capability, name patterns its name.
      const valueRules = search.rules.filter((rule) => rule.operator === 'any_of');
      const page = await searchCapabilities(deps, principal, list, { ...search, rules: search.rules.filter((rule) => rule.operator !== 'any_of'), valueRules });
      return listEnvelope(page, list);
    },
    searchScalingGroups: async ({ principal, list, body }) =>
      listEnvelope(await searchScalingGroups(deps, principal, list, readModelSearch(body, list, { nameAttribute: 'name', needsModel: true })), list),
  });

  async function nodes(
    search: ModelSearch,
    list: ListQuery,
    wire: Wire,
    stored: () => Promise<ListPage<Record<string, unknown>>>,
    planned: () => Promise<ListPage<Record<string, unknown>>>,
  ) {
    const page = await (search.deploymentId === null && search.blueprintId !== null ? planned() : stored());
    return listEnvelope({ ...page, filtered: search.rules.length > 0 ? page.filtered : null, items: page.items.map((item) => onWire({ wire, version: 'v3.1' }, 'node', item)) }, list);
  }
}

/** The list without the filters that the search itself reads. */
function plain(list: ListQuery, keep: readonly string[] = []): ListQuery {
  return { ...list, filters: Object.fromEntries(Object.entries(list.filters).filter(([name]) => keep.includes(name))) };
}

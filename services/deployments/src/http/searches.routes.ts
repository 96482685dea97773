import { type ListQuery, ruleAttributes } from '@baton/contracts';
import { deploymentSearchesRoutes } from '@baton/contracts/http/deployment-searches';
import {
  type BoundRoute,
  bindRoutes,
  type HandlersOf,
  type HttpCall,
  listEnvelope,
  rawEnvelope,
} from '@baton/http';
import type { ServiceDeps } from '../deps';
import { listDeploymentRecords } from '../queries/deployment-records';
import { listDeployments } from '../queries/list-deployments';
import { listNodeInstances } from '../queries/list-node-instances';
import { listNodes } from '../queries/list-nodes';
import { listWorkflows } from '../queries/list-workflows';
import { readModelSearch, searchCapabilities, searchScalingGroups } from '../queries/search-model';
import { searchPlanNodes } from '../queries/search-plan-nodes';
import { deploymentSelector } from './deployment-selector';
import { hasData } from './has-data';
import type { Kind, ModelPage, WirePolicy } from './wire-policy';

type Handlers = HandlersOf<typeof deploymentSearchesRoutes>;
type NodeSearch = 'searchNodes' | 'searchNodeTypes' | 'searchNodeInstances';

/** POST /searches/{kind} of the model (spec v3.1 part 2 "Searches", reference/rest-api.md 5.11). */
export function searchesHttp(deps: ServiceDeps, wire: WirePolicy): BoundRoute[] {
  return bindRoutes(deploymentSearchesRoutes, {
    ...deploymentSearches(deps, wire),
    ...nodeSearches(deps, wire),
  });
}

function deploymentSearches(deps: ServiceDeps, wire: WirePolicy): Omit<Handlers, NodeSearch> {
  const { skipsUnknown } = wire;
  return {
    searchDeployments: async (call) => {
      const { principal, list } = call;
      const selector = await deploymentSelector(deps, principal, list, call.body, { skipsUnknown });
      const records = wire.isAsStored(call.version)
        ? await listDeploymentRecords(deps, principal, list, selector)
        : null;
      if (records) return rawEnvelope(records, list);
      const page = await listDeployments(deps, principal, list, selector);
      const items = page.items.map((item) => wire.presentDeployment(call.version, item, hasData(list)));
      return listEnvelope({ ...page, items }, list);
    },
    searchWorkflows: async (call) => {
      const { principal, list, body } = call;
      const selector = await deploymentSelector(deps, principal, list, body, { skipsUnknown });
      return wire.workflowPage(await listWorkflows(deps, principal, list, selector), list);
    },
    searchCapabilities: async (call) => {
      const { principal, list, body } = call;
      // valid_values check the value of a capability; name patterns check its name.
      const search = readModelSearch(body, list, {
        nameAttribute: 'name',
        valuesAttribute: 'value',
        hasAnyValues: true,
        needsModel: true,
        skipsUnknown,
      });
      const valueRules = search.rules.filter((rule) => rule.key === 'value');
      const rules = search.rules.filter((rule) => rule.key !== 'value');
      return listEnvelope(
        await searchCapabilities(deps, principal, list, { ...search, rules, valueRules }),
        list,
      );
    },
    searchScalingGroups: async (call) => {
      const { principal, list, body } = call;
      const kind = { nameAttribute: 'name', needsModel: true, skipsUnknown };
      const search = readModelSearch(body, list, kind);
      return wire.modelPage(await searchScalingGroups(deps, principal, list, search), list);
    },
  };
}

function nodeSearches(deps: ServiceDeps, wire: WirePolicy): Pick<Handlers, NodeSearch> {
  const { skipsUnknown } = wire;
  const onPage = (call: Pick<HttpCall, 'version' | 'list'>, kind: Kind, page: ModelPage) =>
    listEnvelope(
      { ...page, items: page.items.map((item) => wire.present(call.version, kind, item)) },
      call.list,
    );
  const nodes = async (call: HttpCall, attribute: 'id' | 'type') => {
    const { principal, list } = call;
    const search = readModelSearch(call.body, list, {
      nameAttribute: attribute,
      needsModel: true,
      // A valid type also matches the types that derive from it.
      valuesAttribute: attribute === 'type' ? 'type_hierarchy' : attribute,
      attributes: ruleAttributes.nodes,
      patterns: { operation_name_specs: 'operation_name' },
      skipsUnknown,
    });
    const isPlanned = search.deploymentId === null && search.blueprintId !== null;
    const page = isPlanned
      ? await searchPlanNodes(deps, principal, list, search, attribute)
      : await listNodes(deps, principal, plain(list), {
          rules: search.rules,
          deploymentId: search.deploymentId,
          searchIn: attribute,
        });
    return isPlanned ? wire.modelPage(page, list) : onPage(call, 'node', page);
  };
  return {
    searchNodes: (call) => nodes(call, 'id'),
    searchNodeTypes: (call) => nodes(call, 'type'),
    searchNodeInstances: async (call) => {
      const search = readModelSearch(call.body, call.list, {
        nameAttribute: 'id',
        needsModel: false,
        attributes: ruleAttributes.nodeInstances,
        skipsUnknown,
      });
      const list = plain(call.list, ['node_id']);
      const page = await listNodeInstances(deps.db.query, call.principal, list, {
        rules: search.rules,
        deploymentId: search.deploymentId,
      });
      return onPage(call, 'nodeInstance', page);
    },
  };
}

/** Returns the list without the filters that the search itself reads. */
function plain(list: ListQuery, keep: readonly string[] = []): ListQuery {
  return {
    ...list,
    filters: Object.fromEntries(Object.entries(list.filters).filter(([name]) => keep.includes(name))),
  };
}

import { type ListPage, type ListQuery, ruleAttributes } from '@baton/contracts';
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
import { deploymentOnWire, hasData, isAsStored, type Kind, onWire, workflowsOnWire } from './wire';

type Handlers = HandlersOf<typeof deploymentSearchesRoutes>;
type NodeSearch = 'searchNodes' | 'searchNodeTypes' | 'searchNodeInstances';
type Page = ListPage<Record<string, unknown>>;

/** POST /searches/{kind} of the model (spec v3.1 part 2 "Searches", reference/rest-api.md 5.11). */
export function searchesHttp(deps: ServiceDeps): BoundRoute[] {
  return bindRoutes(deploymentSearchesRoutes, { ...deploymentSearches(deps), ...nodeSearches(deps) });
}

function deploymentSearches(deps: ServiceDeps): Omit<Handlers, NodeSearch> {
  return {
    searchDeployments: async (call) => {
      const { principal, list } = call;
      const selector = await deploymentSelector(deps, principal, list, call.body, leniency(call));
      const records = isAsStored(call) ? await listDeploymentRecords(deps, principal, list, selector) : null;
      if (records) return rawEnvelope(records, list);
      const page = await listDeployments(deps, principal, list, selector);
      const items = page.items.map((item) => deploymentOnWire(call, item, hasData(list)));
      return listEnvelope({ ...page, items }, list);
    },
    searchWorkflows: async (call) => {
      const { principal, list, body } = call;
      const selector = await deploymentSelector(deps, principal, list, body, leniency(call));
      return workflowsOnWire(call.wire, await listWorkflows(deps, principal, list, selector), list);
    },
    searchCapabilities: async (call) => {
      const { principal, list, body } = call;
      // valid_values test the value of a capability, name patterns its name.
      const search = readModelSearch(body, list, {
        nameAttribute: 'name',
        valuesAttribute: 'value',
        hasAnyValues: true,
        needsModel: true,
        ...leniency(call),
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
      const kind = { nameAttribute: 'name', needsModel: true, ...leniency(call) };
      const search = readModelSearch(body, list, kind);
      return wholeModel(call, await searchScalingGroups(deps, principal, list, search));
    },
  };
}

function nodeSearches(deps: ServiceDeps): Pick<Handlers, NodeSearch> {
  const nodes = async (call: HttpCall, attribute: 'id' | 'type') => {
    const { principal, list } = call;
    const search = readModelSearch(call.body, list, {
      nameAttribute: attribute,
      needsModel: true,
      // A valid type admits those that derive from it, too.
      valuesAttribute: attribute === 'type' ? 'type_hierarchy' : attribute,
      attributes: ruleAttributes.nodes,
      patterns: { operation_name_specs: 'operation_name' },
      ...leniency(call),
    });
    const isPlanned = search.deploymentId === null && search.blueprintId !== null;
    const page = isPlanned
      ? await searchPlanNodes(deps, principal, list, search, attribute)
      : await listNodes(deps, principal, plain(list), {
          rules: search.rules,
          deploymentId: search.deploymentId,
          searchIn: attribute,
        });
    return isPlanned ? wholeModel(call, page) : onPage(call, 'node', page);
  };
  return {
    searchNodes: (call) => nodes(call, 'id'),
    searchNodeTypes: (call) => nodes(call, 'type'),
    searchNodeInstances: async (call) => {
      const search = readModelSearch(call.body, call.list, {
        nameAttribute: 'id',
        needsModel: false,
        attributes: ruleAttributes.nodeInstances,
        ...leniency(call),
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

function onPage(call: Pick<HttpCall, 'wire' | 'version' | 'list'>, kind: Kind, page: Page) {
  return listEnvelope({ ...page, items: page.items.map((item) => onWire(call, kind, item)) }, call.list);
}

/** A page from the model; managers of the original say there how much they have looked through. */
function wholeModel({ wire, list }: Pick<HttpCall, 'wire' | 'list'>, page: Page) {
  const envelope = listEnvelope(page, list);
  if (wire === 'spec') return envelope;
  const { items, metadata } = envelope;
  const total = page.total + (page.filtered ?? 0);
  return { items, metadata: { ...metadata, pagination: { offset: 0, size: items.length, total } } };
}

/** Managers of the original pass over constraints that they do not know. */
const leniency = ({ wire }: Pick<HttpCall, 'wire'>) => ({ skipsUnknown: wire === 'cloudify' });

/** The list without the filters that the search itself reads. */
function plain(list: ListQuery, keep: readonly string[] = []): ListQuery {
  return {
    ...list,
    filters: Object.fromEntries(Object.entries(list.filters).filter(([name]) => keep.includes(name))),
  };
}

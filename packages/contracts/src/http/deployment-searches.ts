import { z } from 'zod';
import { defineRoutes } from '../route';
import { deployment, deploymentList, workflowEntry, workflowList } from './deployments';
import { envelope, jsonObject } from './deployments-shapes';
import { nodeInstance, nodeInstanceList } from './node-instances';
import { node, nodeList } from './nodes';

/** Either rules or constraints, checked by the models of filter rules and of constraints (reference/rest-api.md 5.11). */
const searchBody = z.object({ filter_rules: z.unknown().optional(), constraints: jsonObject.nullish() });
const own = {
  owner: 'deployments',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'v3.1-part2 Searches',
  method: 'POST',
  status: 200,
  body: searchBody,
} as const;

const withModel = {
  filters: ['deployment_id', 'blueprint_id', 'node_id'],
  passedOver: ['other filters'],
  allowsAllTenants: true,
  allowsGetAll: true,
} as const;
/** Result of a search with a blueprint: the node as in the plan (reference/rest-api.md 5.11). */
const planNode = z
  .looseObject({ id: z.string(), name: z.string(), type: z.string(), blueprint_id: z.string() })
  .meta({ id: 'PlanNode' });
const foundNode = z.union([node, planNode]);
const capabilityItem = z.object({ deployment_id: z.string(), capabilities: z.array(jsonObject) });
const scalingGroupItem = z.object({
  name: z.string(),
  members: z.array(z.string()),
  properties: jsonObject,
  deployment_id: z.string().nullable(),
});

export const deploymentSearchesRoutes = defineRoutes([
  {
    id: 'searchDeployments',
    path: '/searches/deployments',
    ...own,
    permission: 'deployment_list',
    summary: 'Finds deployments by filter rules',
    list: { ...deploymentList, passedOver: ['filters'] },
    response: envelope(deployment),
  },
  {
    id: 'searchWorkflows',
    path: '/searches/workflows',
    ...own,
    permission: 'deployment_list',
    summary: 'Workflows of the deployments that match',
    list: { ...workflowList, passedOver: ['filters', ...workflowList.passedOver] },
    response: envelope(workflowEntry),
  },
  {
    id: 'searchNodes',
    path: '/searches/nodes',
    ...own,
    permission: 'node_list',
    summary: 'Finds nodes by constraints',
    list: { ...nodeList, ...withModel, extra: {} },
    response: envelope(foundNode),
  },
  {
    id: 'searchNodeTypes',
    path: '/searches/node-types',
    ...own,
    permission: 'node_list',
    summary: 'Finds node types by constraints',
    list: { ...nodeList, ...withModel, search: 'type', extra: {} },
    response: envelope(foundNode),
  },
  {
    id: 'searchNodeInstances',
    path: '/searches/node-instances',
    ...own,
    permission: 'node_instance_list',
    summary: 'Finds node instances by constraints',
    list: { ...nodeInstanceList, ...withModel },
    response: envelope(nodeInstance),
  },
  {
    id: 'searchCapabilities',
    path: '/searches/capabilities',
    ...own,
    permission: 'deployment_capabilities',
    summary: 'Finds capabilities by constraints',
    list: {
      fields: Object.keys(capabilityItem.shape),
      ...withModel,
      sorts: ['deployment_id'],
      passedOver: ['other filters', '_sort'],
      search: 'name',
      defaultSort: [],
    },
    response: envelope(capabilityItem),
  },
  {
    id: 'searchScalingGroups',
    path: '/searches/scaling-groups',
    ...own,
    permission: 'deployment_get',
    summary: 'Finds scaling groups by constraints',
    list: {
      fields: Object.keys(scalingGroupItem.shape),
      ...withModel,
      sorts: ['name'],
      passedOver: ['other filters', '_sort'],
      search: 'name',
      defaultSort: [],
    },
    response: envelope(scalingGroupItem),
  },
]);

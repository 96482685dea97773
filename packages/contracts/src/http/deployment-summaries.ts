import { z } from 'zod';
import { defineRoutes } from '../route';
import { deploymentFilters } from './deployments';
import { envelope, jsonObject } from './deployments-shapes';
import { nodeInstanceList } from './node-instances';
import { nodeList } from './nodes';

/** Fields that `_target_field` and `_sub_field` accept (reference/rest-api.md 5.27). */
export const summaryFields = {
  deployments: ['blueprint_id', 'tenant_name', 'visibility', 'site_name', 'deployment_status'],
  nodes: ['deployment_id', 'tenant_name', 'visibility'],
  node_instances: ['deployment_id', 'index', 'node_id', 'state', 'host_id', 'tenant_name', 'visibility'],
} as const;

const own = {
  owner: 'deployments',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'v3.1-part2 Summaries',
  method: 'GET',
  status: 200,
  response: envelope(jsonObject),
} as const;
const list = {
  fields: [],
  sorts: [],
  defaultSort: [],
  allowsAllTenants: true,
  allowsGetAll: true,
  passedOver: ['_include', '_sort'],
} as const;
const query = z.object({ _target_field: z.string().optional(), _sub_field: z.string().optional() });

export const deploymentSummariesRoutes = defineRoutes([
  {
    id: 'summarizeDeployments',
    path: '/summary/deployments',
    ...own,
    permission: 'deployment_list',
    summary: 'Counts deployments by a field',
    query,
    list: {
      ...list,
      filters: deploymentFilters,
      search: 'id',
      searchName: 'display_name',
      extra: { _filter_id: 'text' },
    },
  },
  {
    id: 'summarizeNodes',
    path: '/summary/nodes',
    ...own,
    permission: 'node_list',
    summary: 'Counts nodes by a field',
    query,
    list: { ...list, filters: nodeList.filters, search: 'id' },
  },
  {
    id: 'summarizeNodeInstances',
    path: '/summary/node_instances',
    ...own,
    permission: 'node_instance_list',
    summary: 'Counts node instances by a field',
    query,
    list: { ...list, filters: nodeInstanceList.filters, search: 'id' },
  },
]);

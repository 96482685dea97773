import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, jsonObject, ownedFields } from './deployments-shapes';
import { legacyFields } from './legacy-fields';
import { columnsOf } from './list-columns';

const { created_at: _noCreationTime, ...owned } = ownedFields;
const count = z.number().int();

/** Node (spec v3.1 part 2 "Node", reference/rest-api.md 5.16). */
export const node = z
  .object({
    id: z.string(),
    ...owned,
    deployment_id: z.string(),
    deployment_display_name: z.string(),
    blueprint_id: z.string().nullable(),
    type: z.string(),
    type_hierarchy: z.array(z.string()),
    host_id: z.string().nullable(),
    properties: jsonObject,
    operations: jsonObject,
    plugins: z.array(jsonObject),
    plugins_to_install: z.array(jsonObject).nullable(),
    relationships: z.array(jsonObject),
    number_of_instances: count,
    planned_number_of_instances: count,
    deploy_number_of_instances: count,
    min_number_of_instances: count,
    max_number_of_instances: count.describe('-1: no bound'),
    actual_number_of_instances: count,
    actual_planned_number_of_instances: count,
    drifted_instances: count,
    unavailable_instances: count,
  })
  .meta({ id: 'Node' });
const nodeFields = Object.keys(node.shape);

const filters = [...columnsOf(node), 'node_id'];
export const nodeList = {
  fields: nodeFields,
  filters,
  sorts: filters,
  search: 'id',
  // In order of creation, which no field shows.
  defaultSort: [],
  extra: { _evaluate_functions: 'flag', _instance_context: 'text' },
  allowsAllTenants: true,
  allowsGetAll: true,
} as const;

const own = { owner: 'deployments', tenant: 'required' } as const;
const params = z.object({ deployment_id: z.string(), node_id: z.string() });
const one = { ...own, versions: ['v3.1'], spec: 'reference 5.16', params } as const;

export const nodesRoutes = defineRoutes([
  {
    id: 'listNodes',
    method: 'GET',
    path: '/nodes',
    ...own,
    versions: ['v2.1', 'v3.1'],
    spec: 'v3.1-part2 Node instances and nodes',
    permission: 'node_list',
    summary: 'Lists nodes',
    list: nodeList,
    legacyFields: legacyFields.node,
    status: 200,
    response: envelope(node),
  },
  {
    id: 'createNodes',
    method: 'POST',
    path: '/nodes',
    ...own,
    versions: ['v3.1'],
    spec: 'reference 5.16',
    permission: 'node_list',
    summary: 'Adds nodes during a deployment update',
    body: z.object({ deployment_id: z.string(), nodes: z.array(jsonObject) }),
    status: 204,
    isAllowedToExecution: true,
  },
  {
    id: 'updateNode',
    method: 'PATCH',
    path: '/nodes/:deployment_id/:node_id',
    ...one,
    permission: 'node_update',
    summary: 'Changes a node during a deployment update',
    body: jsonObject,
    includeFields: nodeFields,
    status: 200,
    response: node,
    isAllowedToExecution: true,
  },
  {
    id: 'deleteNode',
    method: 'DELETE',
    path: '/nodes/:deployment_id/:node_id',
    ...one,
    permission: 'node_delete',
    summary: 'Deletes a node during a deployment update',
    status: 204,
    isAllowedToExecution: true,
  },
]);

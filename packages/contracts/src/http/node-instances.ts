import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, jsonObject, ownedFields, queryBoolean } from './deployments-shapes';
import { legacyFields } from './legacy-fields';
import { columnsOf } from './list-columns';

const { created_at: _noCreationTime, ...owned } = ownedFields;

/** NodeInstance (spec v3.1 part 2 "NodeInstance", reference/rest-api.md 5.16). */
export const nodeInstance = z
  .object({
    id: z.string(),
    ...owned,
    node_id: z.string(),
    deployment_id: z.string(),
    host_id: z.string().nullable(),
    index: z.number().int().describe('1-based per node'),
    state: z.string(),
    version: z.number().int(),
    runtime_properties: jsonObject,
    system_properties: jsonObject.nullable(),
    relationships: z.array(
      z.object({ target_name: z.string(), target_id: z.string(), type: z.string() }).loose(),
    ),
    scaling_groups: z.array(z.object({ name: z.string(), id: z.string() })),
    is_status_check_ok: z.boolean(),
    has_configuration_drift: z.boolean(),
  })
  .meta({ id: 'NodeInstance' });
const nodeInstanceFields = Object.keys(nodeInstance.shape);

const filters = [...columnsOf(nodeInstance), 'node_name'];
export const nodeInstanceList = {
  fields: nodeInstanceFields,
  filters,
  sorts: filters,
  search: 'id',
  // In order of creation, which no field shows.
  defaultSort: [],
  allowsAllTenants: true,
  allowsGetAll: true,
} as const;

/** Body of the PATCH; `version` is checked by the rules of reference/rest-api.md 5.16. */
const patchNodeInstanceBody = z.object({
  version: z.number().int().min(0),
  state: z.string().optional(),
  runtime_properties: jsonObject.optional(),
  system_properties: jsonObject.optional(),
  relationships: z.array(jsonObject).optional(),
});

const own = { owner: 'deployments', tenant: 'required' } as const;
const both = { ...own, versions: ['v2.1', 'v3.1'], spec: 'v3.1-part2 Node instances and nodes' } as const;
const params = z.object({ id: z.string() });

export const nodeInstancesRoutes = defineRoutes([
  {
    id: 'listNodeInstances',
    method: 'GET',
    path: '/node-instances',
    ...both,
    permission: 'node_instance_list',
    summary: 'Lists node instances',
    list: nodeInstanceList,
    legacyFields: legacyFields.nodeInstance,
    status: 200,
    response: envelope(nodeInstance),
  },
  {
    id: 'getNodeInstance',
    method: 'GET',
    path: '/node-instances/:id',
    ...both,
    permission: 'node_instance_get',
    summary: 'Reads one node instance',
    params,
    query: z.object({ _evaluate_functions: queryBoolean.optional() }),
    includeFields: nodeInstanceFields,
    legacyFields: legacyFields.nodeInstance,
    status: 200,
    response: nodeInstance,
    isAllowedToExecution: true,
  },
  {
    id: 'patchNodeInstance',
    method: 'PATCH',
    path: '/node-instances/:id',
    ...both,
    permission: 'node_instance_update',
    summary: 'Writes state or properties, guarded by version',
    params,
    query: z.object({ force: queryBoolean.optional() }),
    body: patchNodeInstanceBody,
    includeFields: nodeInstanceFields,
    legacyFields: legacyFields.nodeInstance,
    status: 200,
    response: nodeInstance,
    isAllowedToExecution: true,
  },
  {
    id: 'patchNodeInstanceByQuery',
    method: 'PATCH',
    path: '/node-instances',
    ...own,
    versions: ['v2.1'],
    spec: 'v2.1 Endpoints',
    permission: 'node_instance_update',
    summary: 'As PATCH by path, in the form of v2.1',
    query: z.object({ id: z.string(), force: queryBoolean.optional() }),
    body: patchNodeInstanceBody,
    includeFields: nodeInstanceFields,
    legacyFields: legacyFields.nodeInstance,
    status: 200,
    response: nodeInstance,
    isAllowedToExecution: true,
  },
  {
    id: 'createNodeInstances',
    method: 'POST',
    path: '/node-instances',
    ...own,
    versions: ['v3.1'],
    spec: 'reference 5.16',
    permission: 'node_list',
    summary: 'Adds node instances during a deployment update',
    body: z.object({ deployment_id: z.string(), node_instances: z.array(jsonObject) }),
    status: 204,
    isAllowedToExecution: true,
  },
  {
    id: 'deleteNodeInstance',
    method: 'DELETE',
    path: '/node-instances/:id',
    ...own,
    versions: ['v3.1'],
    spec: 'reference 5.16',
    permission: 'node_instance_delete',
    summary: 'Deletes a node instance during a deployment update',
    params,
    status: 204,
    isAllowedToExecution: true,
  },
]);

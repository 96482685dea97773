import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, instant, jsonObject, ownedFields } from './deployments-shapes';
import { columnsOf } from './list-columns';

const instances = z.array(jsonObject);

/** Deployment modification (reference/rest-api.md 5.5, reference/workflows.md 1.10). */
const modification = z
  .object({
    id: z.string(),
    ...ownedFields,
    deployment_id: z.string(),
    context: z.unknown(),
    modified_nodes: jsonObject,
    status: z.enum(['started', 'finished', 'rolledback']),
    ended_at: instant.nullable(),
    node_instances: z.object({
      added_and_related: instances,
      removed_and_related: instances,
      before_modification: instances,
      before_rollback: instances,
    }),
  })
  .meta({ id: 'DeploymentModification' });
const modificationFields = Object.keys(modification.shape);

/** Input of POST per node or scaling group. */
const modifiedNode = z.object({
  instances: z.number().int().min(0).optional(),
  removed_ids_include_hint: z.array(z.string()).optional(),
  removed_ids_exclude_hint: z.array(z.string()).optional(),
});
const startModificationBody = z.object({
  deployment_id: z.string(),
  context: z.unknown().optional(),
  nodes: z.record(z.string(), modifiedNode).optional(),
});

const filters = columnsOf(modification);
const params = z.object({ id: z.string() });
const path = '/deployment-modifications';
const own = {
  owner: 'deployments',
  tenant: 'required',
  versions: ['v2.1', 'v3.1'],
  spec: 'reference 5.5',
} as const;

export const deploymentModificationsRoutes = defineRoutes([
  {
    id: 'listDeploymentModifications',
    method: 'GET',
    path,
    ...own,
    permission: 'deployment_modification_list',
    summary: 'Lists deployment modifications',
    list: {
      fields: modificationFields,
      filters,
      sorts: filters,
      search: 'id',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(modification),
  },
  {
    id: 'getDeploymentModification',
    method: 'GET',
    path: `${path}/:id`,
    ...own,
    permission: 'deployment_modification_get',
    summary: 'Reads one deployment modification',
    params,
    includeFields: modificationFields,
    status: 200,
    response: modification,
  },
  {
    id: 'startDeploymentModification',
    method: 'POST',
    path,
    ...own,
    permission: 'deployment_modify',
    summary: 'Starts a deployment modification',
    body: startModificationBody,
    includeFields: modificationFields,
    status: 201,
    response: modification,
  },
  {
    id: 'finishDeploymentModification',
    method: 'POST',
    path: `${path}/:id/finish`,
    ...own,
    permission: 'deployment_modification_finish',
    summary: 'Keeps the modification',
    params,
    body: jsonObject,
    isBodyOptional: true,
    includeFields: modificationFields,
    status: 200,
    response: modification,
  },
  {
    id: 'rollbackDeploymentModification',
    method: 'POST',
    path: `${path}/:id/rollback`,
    ...own,
    permission: 'deployment_modification_rollback',
    summary: 'Undoes the modification',
    params,
    body: jsonObject,
    isBodyOptional: true,
    includeFields: modificationFields,
    status: 200,
    response: modification,
  },
]);

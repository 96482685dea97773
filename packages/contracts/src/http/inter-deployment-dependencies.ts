import { z } from 'zod';
import { defineRoutes } from '../route';
import { createdFields, envelope, jsonObject, ownedFields } from './deployments-shapes';
import { columnsOf } from './list-columns';

/** Inter-deployment dependency (spec v3.1 part 1, reference/rest-api.md 5.4). */
const dependency = z
  .object({
    id: z.string(),
    ...ownedFields,
    dependency_creator: z.string(),
    source_deployment_id: z.string().nullable(),
    target_deployment_id: z.string().nullable(),
    target_deployment_func: z.unknown(),
    external_source: jsonObject.nullable(),
    external_target: jsonObject.nullable(),
  })
  .meta({ id: 'InterDeploymentDependency' });
const dependencyFields = Object.keys(dependency.shape);

const identification = {
  dependency_creator: z.string().min(1),
  source_deployment: z.string().nullish(),
  target_deployment: z.string().nullish(),
  target_deployment_func: z.unknown().optional(),
  external_source: jsonObject.nullish(),
  external_target: jsonObject.nullish(),
};
const dependencyBody = z.object({ ...identification, ...createdFields });
const dependencyDeletion = z.object({
  ...identification,
  is_component_deletion: z.boolean().optional(),
});
/** Bulk member: clients use both spellings of the keys. */
const bulkMember = z.object({
  dependency_creator: z.string().min(1),
  target_deployment: z.string().nullish(),
  target_deployment_id: z.string().nullish(),
  target_deployment_func: z.unknown().optional(),
  external_source: jsonObject.nullish(),
  external_target: jsonObject.nullish(),
  ...createdFields,
});

const filters = columnsOf(dependency);
const path = '/deployments/inter-deployment-dependencies';
const own = {
  owner: 'deployments',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'v3.1-part1 Inter-deployment dependencies',
} as const;

export const interDeploymentDependenciesRoutes = defineRoutes([
  {
    id: 'listInterDeploymentDependencies',
    method: 'GET',
    path,
    ...own,
    permission: 'inter_deployment_dependency_list',
    summary: 'Lists dependencies between deployments',
    list: {
      fields: dependencyFields,
      filters,
      sorts: filters,
      search: 'id',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(dependency),
  },
  {
    id: 'createInterDeploymentDependency',
    method: 'PUT',
    path,
    ...own,
    permission: 'inter_deployment_dependency_create',
    summary: 'Records a dependency',
    body: dependencyBody,
    includeFields: dependencyFields,
    status: 200,
    response: dependency,
    isAllowedToExecution: true,
  },
  {
    id: 'deleteInterDeploymentDependency',
    method: 'DELETE',
    path,
    ...own,
    permission: 'inter_deployment_dependency_delete',
    summary: 'Deletes a dependency',
    body: dependencyDeletion,
    includeFields: dependencyFields,
    status: 200,
    response: dependency,
    isAllowedToExecution: true,
  },
  {
    id: 'createInterDeploymentDependencies',
    method: 'POST',
    path,
    ...own,
    permission: 'inter_deployment_dependency_create',
    summary: 'Records several dependencies of one deployment',
    body: z.object({ source_deployment_id: z.string(), inter_deployment_dependencies: z.array(bulkMember) }),
    status: 200,
    response: envelope(z.object({ id: z.string() })),
    isAllowedToExecution: true,
  },
  {
    id: 'replaceInterDeploymentDependencies',
    method: 'PUT',
    path: '/deployments/:id/inter-deployment-dependencies',
    ...own,
    permission: 'inter_deployment_dependency_create',
    summary: 'Replaces the dependencies of one deployment',
    params: z.object({ id: z.string() }),
    body: z.object({ inter_deployment_dependencies: z.array(bulkMember) }),
    status: 200,
    response: envelope(z.object({ id: z.string() })),
    isAllowedToExecution: true,
  },
]);

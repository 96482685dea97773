import { z } from 'zod';
import { defineRoutes } from '../route';
import {
  createdFields,
  envelope,
  jsonObject,
  labelOutput,
  labelsInput,
  ownedFields,
  queryBoolean,
  visibility,
} from './deployments-shapes';
import { columnsOf } from './list-columns';

/** DeploymentGroup (reference/rest-api.md 5.6). In lists, members and labels are null without `_get_data`. */
const deploymentGroup = z
  .object({
    id: z.string(),
    ...ownedFields,
    description: z.string().nullable(),
    default_blueprint_id: z.string().nullable(),
    default_inputs: jsonObject.nullable(),
    creation_counter: z.number().int(),
    deployment_ids: z.array(z.string()).nullable(),
    labels: z.array(labelOutput).nullable(),
  })
  .meta({ id: 'DeploymentGroup' });
const deploymentGroupFields = Object.keys(deploymentGroup.shape);

/** A deployment to create in the group; `id` may contain {group_id}, {uuid}, {count}, {blueprint_id}, {site_name}. */
const newGroupDeployment = z.object({
  id: z.string().nullish(),
  inputs: jsonObject.nullish(),
  labels: labelsInput.nullish(),
  display_name: z.string().nullish(),
  site_name: z.string().nullish(),
  runtime_only_evaluation: z.boolean().nullish(),
  skip_plugins_validation: z.boolean().nullish(),
});

/** Fields that select members: in PUT, and in `add` and `remove` of PATCH. */
const selection = {
  deployment_ids: z.array(z.string()).nullish(),
  filter_id: z.string().nullish(),
  filter_rules: z.array(z.unknown()).nullish(),
  deployments_from_group: z.union([z.string(), z.array(z.string())]).nullish(),
  new_deployments: z.array(newGroupDeployment).nullish(),
};
const groupSelection = z.object(selection);

/** Properties of the group itself. */
const properties = {
  description: z.string().nullish(),
  visibility: visibility.nullish(),
  labels: labelsInput.nullish(),
  blueprint_id: z.string().nullish(),
  default_inputs: jsonObject.nullish(),
  creation_counter: z.number().int().min(0).nullish(),
  ...createdFields,
};
const putBody = z.object({ ...properties, ...selection });
const patchBody = z.object({
  ...properties,
  add: groupSelection.nullish(),
  remove: groupSelection.nullish(),
});

const own = { owner: 'deployments', tenant: 'required', versions: ['v3.1'], spec: 'reference 5.6' } as const;
const getData = z.object({ _get_data: queryBoolean.optional() });
const filters = columnsOf(deploymentGroup);
const deletion = {
  delete_deployments: queryBoolean.optional(),
  force: queryBoolean.optional(),
  delete_logs: queryBoolean.optional(),
  with_logs: queryBoolean.optional(),
  recursive: queryBoolean.optional(),
};

export const deploymentGroupsRoutes = defineRoutes([
  {
    id: 'listDeploymentGroups',
    method: 'GET',
    path: '/deployment-groups',
    ...own,
    permission: 'deployment_group_list',
    summary: 'Lists deployment groups',
    query: getData,
    list: {
      fields: deploymentGroupFields,
      filters,
      sorts: filters,
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(deploymentGroup),
  },
  {
    id: 'getDeploymentGroup',
    method: 'GET',
    path: '/deployment-groups/:id',
    ...own,
    permission: 'deployment_group_get',
    summary: 'Reads one deployment group',
    query: getData,
    includeFields: deploymentGroupFields,
    status: 200,
    response: deploymentGroup,
  },
  {
    id: 'putDeploymentGroup',
    method: 'PUT',
    path: '/deployment-groups/:id',
    ...own,
    permission: 'deployment_group_create',
    isRefusedWhileCancelling: true,
    summary: 'Creates a deployment group or changes it; given members replace those before',
    body: putBody,
    includeFields: deploymentGroupFields,
    status: 200,
    response: deploymentGroup,
  },
  {
    id: 'patchDeploymentGroup',
    method: 'PATCH',
    path: '/deployment-groups/:id',
    ...own,
    permission: 'deployment_group_update',
    isRefusedWhileCancelling: true,
    summary: 'Adds and removes members, changes properties',
    body: patchBody,
    includeFields: deploymentGroupFields,
    status: 200,
    response: deploymentGroup,
  },
  {
    id: 'deleteDeploymentGroup',
    method: 'DELETE',
    path: '/deployment-groups/:id',
    ...own,
    permission: 'deployment_group_delete',
    summary: 'Deletes the group; with delete_deployments its members too, as an execution group (200)',
    query: z.object(deletion),
    body: z.object({
      delete_deployments: z.boolean().optional(),
      force: z.boolean().optional(),
      delete_logs: z.boolean().optional(),
      with_logs: z.boolean().optional(),
      recursive: z.boolean().optional(),
    }),
    isBodyOptional: true,
    status: 204,
  },
]);

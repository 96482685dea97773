import { z } from 'zod';
import { defineRoutes } from '../route';
import {
  changedOwnershipFields,
  createdFields,
  cursorEnvelope,
  deploymentId,
  envelope,
  instant,
  jsonObject,
  labelOutput,
  labelsInput,
  ownedFields,
  queryBoolean,
  visibility,
  widerVisibility,
} from './deployments-shapes';
import { legacyFields } from './legacy-fields';
import { columnsOf } from './list-columns';

/** Status that summarizes a deployment or its descendants (reference/rest-api.md 6.4). */
const deploymentStatus = z.enum(['good', 'in_progress', 'requires_attention']);

/** A workflow of a deployment in a response (reference/rest-api.md 5.2). */
export const workflowEntry = z
  .object({
    name: z.string(),
    plugin: z.string().nullable(),
    operation: z.string().nullable(),
    parameters: jsonObject,
    is_cascading: z.boolean(),
    is_available: z.boolean(),
    availability_rules: jsonObject.nullable(),
  })
  .meta({ id: 'DeploymentWorkflow' });

/** Placeholder for the workflows where the original's wire does not list them: one entry, every field null. */
const hiddenWorkflow = z
  .object({
    name: z.null(),
    plugin: z.null(),
    operation: z.null(),
    parameters: z.null(),
    is_cascading: z.null(),
    is_available: z.null(),
    availability_rules: z.null(),
  })
  .meta({ id: 'HiddenWorkflow' });

/** Deployment (spec v3.1 part 1 "Deployment", reference/rest-api.md 5.2). */
export const deployment = z
  .object({
    id: deploymentId,
    ...ownedFields,
    blueprint_id: z.string().nullable(),
    description: z.string().nullable(),
    display_name: z.string(),
    inputs: jsonObject,
    outputs: jsonObject,
    capabilities: jsonObject,
    groups: jsonObject,
    scaling_groups: jsonObject,
    policy_types: jsonObject,
    policy_triggers: jsonObject,
    permalink: z.null(),
    workflows: z.array(z.union([workflowEntry, hiddenWorkflow])),
    updated_at: instant,
    site_name: z.string().nullable(),
    labels: z.array(labelOutput),
    runtime_only_evaluation: z.boolean(),
    resource_tags: jsonObject,
    environment_type: z.string(),
    installation_status: z.enum(['active', 'inactive']),
    deployment_status: deploymentStatus,
    sub_services_status: deploymentStatus.nullable(),
    sub_environments_status: deploymentStatus.nullable(),
    sub_services_count: z.number().int(),
    sub_environments_count: z.number().int(),
    latest_execution: z.string().nullable(),
    latest_execution_status: z.enum(['in_progress', 'completed', 'failed', 'cancelled']).nullable(),
    latest_execution_workflow_id: z.string().nullable(),
    latest_execution_total_operations: z.number().int(),
    latest_execution_finished_operations: z.number().int(),
    create_execution: z.string().nullable(),
    deployment_groups: z.array(z.string()),
    drifted_instances: z.number().int(),
    unavailable_instances: z.number().int(),
    has_sub_deployments: z.boolean(),
    /** Base64; only when `include_workdir` requests it. */
    workdir_zip: z.string().nullable(),
  })
  .meta({ id: 'Deployment' });
const deploymentFields = Object.keys(deployment.shape);

/** Plain filters of deployment lists, also of summaries and searches. */
export const deploymentFilters = [...columnsOf(deployment, ['workdir_zip']), 'deployment_group_id'];

/** The list conventions of every list of deployments. */
export const deploymentList = {
  fields: deploymentFields,
  filters: deploymentFilters,
  // Not by group: a deployment may be in several groups.
  sorts: [...deploymentFilters.filter((name) => name !== 'deployment_group_id'), 'label:*'],
  search: 'id',
  defaultSort: [{ field: 'created_at', descending: false }],
  searchName: 'display_name',
  extra: {
    _filter_id: 'text',
    _group_id: 'text',
    _dependencies_of: 'text',
    _environments_only: 'flag',
    _get_data: 'flag',
  },
  allowsAllTenants: true,
  allowsGetAll: true,
} as const;

/** List conventions for the workflows of the selected deployments. */
export const workflowList = {
  ...deploymentList,
  fields: Object.keys(workflowEntry.shape),
  extra: { ...deploymentList.extra, _common_only: 'flag' },
  passedOver: ['_include', '_sort', '_size', '_offset'],
} as const;

const createDeploymentBody = z.object({
  blueprint_id: z.string().min(1),
  inputs: jsonObject.nullish(),
  visibility: visibility.optional(),
  private_resource: z.boolean().optional(),
  site_name: z.string().nullish(),
  labels: labelsInput.nullish(),
  display_name: z.string().nullish(),
  skip_plugins_validation: z.boolean().optional(),
  runtime_only_evaluation: z.boolean().optional(),
  workdir_zip: z.base64().nullish().describe('Files of the working folder, as include_workdir answers them'),
  ...createdFields,
});

/** Unknown keys are ignored; a body without any key is refused. */
const updateDeploymentBody = z.looseObject({
  labels: labelsInput.optional(),
  display_name: z.string().optional(),
  /** Written by updates and restores only (reference/rest-api.md 5.2). */
  blueprint_id: z.string().optional(),
  description: z.string().nullish(),
  inputs: jsonObject.optional(),
  outputs: jsonObject.optional(),
  capabilities: jsonObject.optional(),
  workflows: jsonObject.optional(),
  groups: jsonObject.optional(),
  scaling_groups: jsonObject.optional(),
  policy_types: jsonObject.optional(),
  policy_triggers: jsonObject.optional(),
  resource_tags: jsonObject.optional(),
  runtime_only_evaluation: z.boolean().optional(),
  ...changedOwnershipFields,
});

const outputsAnswer = z.object({ deployment_id: z.string(), outputs: jsonObject });
const capabilitiesAnswer = z.object({ deployment_id: z.string(), capabilities: jsonObject });
const idParams = z.object({ id: z.string() });
const BOTH = ['v2.1', 'v3.1'] as const;
const LATEST = ['v3.1'] as const;
const own = { owner: 'deployments', tenant: 'required' } as const;
const part1 = 'v3.1-part1 Deployments';

export const deploymentsRoutes = defineRoutes([
  {
    id: 'listDeployments',
    method: 'GET',
    path: '/deployments',
    ...own,
    permission: 'deployment_list',
    versions: BOTH,
    summary: 'Lists deployments',
    spec: part1,
    list: { ...deploymentList, hasCursor: true },
    legacyFields: legacyFields.deployment,
    query: z.object({ all_sub_deployments: queryBoolean.optional() }),
    status: 200,
    response: cursorEnvelope(deployment),
  },
  {
    id: 'getDeployment',
    method: 'GET',
    path: '/deployments/:id',
    ...own,
    permission: 'deployment_get',
    versions: BOTH,
    summary: 'Reads one deployment',
    spec: part1,
    params: idParams,
    query: z.object({
      all_sub_deployments: queryBoolean.optional(),
      include_workdir: queryBoolean.optional(),
    }),
    includeFields: deploymentFields,
    legacyFields: legacyFields.deployment,
    status: 200,
    response: deployment,
  },
  {
    id: 'createDeployment',
    method: 'PUT',
    path: '/deployments/:id',
    ...own,
    permission: 'deployment_create',
    isRefusedWhileCancelling: true,
    versions: BOTH,
    summary: 'Creates a deployment of a blueprint',
    spec: part1,
    params: idParams,
    query: z.object({ async_create: queryBoolean.optional(), private_resource: queryBoolean.optional() }),
    body: createDeploymentBody,
    includeFields: deploymentFields,
    legacyFields: legacyFields.deployment,
    status: 201,
    response: deployment,
  },
  {
    id: 'deleteDeployment',
    method: 'DELETE',
    path: '/deployments/:id',
    ...own,
    permission: 'deployment_delete',
    versions: BOTH,
    summary: 'Deletes a deployment',
    spec: part1,
    params: idParams,
    query: z.object({
      force: queryBoolean.optional(),
      delete_logs: queryBoolean.optional(),
      recursive: queryBoolean.optional(),
      ignore_live_nodes: queryBoolean.optional(),
    }),
    body: z.object({ ignore_live_nodes: z.boolean().optional(), force: z.boolean().optional() }),
    isBodyOptional: true,
    status: 204,
  },
  {
    id: 'updateDeployment',
    method: 'PATCH',
    path: '/deployments/:id',
    ...own,
    permission: 'deployment_update',
    versions: LATEST,
    summary: 'Replaces labels or the display name',
    spec: part1,
    params: idParams,
    body: updateDeploymentBody,
    isBodyReadPlainly: true,
    includeFields: deploymentFields,
    status: 200,
    response: deployment,
    isAllowedToExecution: true,
  },
  {
    id: 'setDeploymentVisibility',
    method: 'PATCH',
    path: '/deployments/:id/set-visibility',
    ...own,
    permission: 'deployment_set_visibility',
    versions: LATEST,
    summary: 'Widens the visibility',
    spec: part1,
    params: idParams,
    body: z.object({ visibility: widerVisibility }),
    includeFields: deploymentFields,
    status: 200,
    response: deployment,
  },
  {
    id: 'setDeploymentSite',
    method: 'POST',
    path: '/deployments/:id/set-site',
    ...own,
    permission: 'deployment_set_site',
    versions: LATEST,
    summary: 'Assigns or detaches a site',
    spec: part1,
    params: idParams,
    body: z.object({ site_name: z.string().nullish(), detach_site: z.boolean().nullish() }),
    isBodyReadPlainly: true,
    includeFields: deploymentFields,
    status: 200,
    response: deployment,
  },
  {
    id: 'getDeploymentOutputs',
    method: 'GET',
    path: '/deployments/:id/outputs',
    ...own,
    permission: 'deployment_modification_outputs',
    versions: BOTH,
    summary: 'Evaluates the outputs',
    spec: part1,
    params: idParams,
    includeFields: ['deployment_id', 'outputs'],
    status: 200,
    response: outputsAnswer,
  },
  {
    id: 'getDeploymentCapabilities',
    method: 'GET',
    path: '/deployments/:id/capabilities',
    ...own,
    permission: 'deployment_capabilities',
    versions: LATEST,
    summary: 'Evaluates the capabilities',
    spec: part1,
    params: idParams,
    includeFields: ['deployment_id', 'capabilities'],
    status: 200,
    response: capabilitiesAnswer,
  },
  {
    id: 'listWorkflows',
    method: 'GET',
    path: '/workflows',
    ...own,
    permission: 'deployment_list',
    versions: LATEST,
    summary: 'Workflows of the deployments that match',
    spec: 'reference 5.2',
    list: workflowList,
    status: 200,
    response: envelope(workflowEntry),
  },
]);

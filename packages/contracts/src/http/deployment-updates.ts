import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, jsonObject, ownedFields } from './deployments-shapes';
import { columnsOf } from './list-columns';
import { bodyFlag } from './shapes';

/** A change between two plans (reference/dsl.md ch. 8). */
const updateStep = z.object({
  id: z.string(),
  action: z.enum(['add', 'remove', 'modify']),
  entity_type: z.string(),
  entity_id: z.array(z.string()),
  topology_order: z.number().int(),
});

/** Deployment update (spec v3.1 part 1 "Deployment update", reference/rest-api.md 5.3). */
const deploymentUpdate = z
  .object({
    id: z.string(),
    ...ownedFields,
    deployment_id: z.string(),
    state: z.enum(['updating', 'successful', 'failed']),
    execution_id: z.string().nullable(),
    old_blueprint_id: z.string().nullable(),
    new_blueprint_id: z.string().nullable(),
    old_inputs: jsonObject,
    new_inputs: jsonObject,
    runtime_only_evaluation: z.boolean(),
    keep_old_deployment_dependencies: z.boolean(),
    deployment_plan: jsonObject.nullable(),
    deployment_update_nodes: z.array(jsonObject).nullable(),
    deployment_update_node_instances: jsonObject.nullable(),
    deployment_update_deployment: jsonObject.nullable(),
    modified_entity_ids: jsonObject.nullable(),
    central_plugins_to_install: z.array(jsonObject).nullable(),
    central_plugins_to_uninstall: z.array(jsonObject).nullable(),
    steps: z.array(updateStep),
    recursive_dependencies: z.unknown(),
    schedules_to_create: z.unknown(),
    schedules_to_delete: z.unknown(),
    labels_to_create: z.array(jsonObject).nullable(),
  })
  .meta({ id: 'DeploymentUpdate' });
const deploymentUpdateFields = Object.keys(deploymentUpdate.shape);

/** A step with the values before and after. */
const updateChange = z
  .object({
    action: z.enum(['add', 'remove', 'modify']),
    entity_type: z.string(),
    node_id: z.string().nullable().describe('null: it belongs to the deployment itself'),
    path: z.array(z.string()).describe('Below the node, or below the plan'),
    before: z.unknown(),
    after: z.unknown(),
    effect: z
      .enum([
        'install',
        'uninstall',
        'establish',
        'unlink',
        'check',
        'update',
        'reinstall',
        'none',
        'refused',
      ])
      .describe(
        'What becomes of node instances as far as the plans say it; check: a drift check says it at run time; refused: an update cannot carry it out',
      ),
  })
  .meta({ id: 'DeploymentUpdateChange' });

/** A single update. In addition to the spec it lists the changes, once its steps are known. */
const shownUpdate = deploymentUpdate
  .extend({ changes: z.array(updateChange).nullable().optional() })
  .meta({ id: 'ShownDeploymentUpdate' });
const shownFields = [...deploymentUpdateFields, 'changes'];

const flag = bodyFlag.default(false);

/** Flags become parameters of the workflow `update`. */
export const initiateUpdateBody = z.object({
  blueprint_id: z.string().min(1).nullish(),
  inputs: jsonObject.nullish(),
  reinstall_list: z.array(z.string()).nullish(),
  preview: flag,
  runtime_only_evaluation: z.boolean().optional(),
  force: flag,
  workflow_id: z.string().nullish(),
  custom_workflow_timeout: z.number().positive().nullish(),
  skip_install: flag,
  skip_uninstall: flag,
  skip_reinstall: flag,
  force_reinstall: flag,
  skip_drift_check: flag,
  skip_heal: flag,
  install_first: flag,
  ignore_failure: flag,
  update_plugins: bodyFlag.default(true),
  auto_correct_types: flag,
  reevaluate_active_statuses: flag,
});

const filters = columnsOf(deploymentUpdate);
const path = '/deployment-updates';
const own = {
  owner: 'deployments',
  tenant: 'required',
  // v2.1: as served by managers later than its document (reference/rest-api.md ch. 9).
  versions: ['v2.1', 'v3.1'],
  spec: 'v3.1-part1 Deployment updates',
} as const;
const initiate = {
  path: `${path}/:deployment_id/update/initiate`,
  ...own,
  permission: 'deployment_update_create',
  params: z.object({ deployment_id: z.string() }),
  body: initiateUpdateBody,
  isBodyOptional: true,
  isBodyReadPlainly: true,
  includeFields: shownFields,
  status: 200,
  response: shownUpdate,
} as const;

export const deploymentUpdatesRoutes = defineRoutes([
  {
    id: 'listDeploymentUpdates',
    method: 'GET',
    path,
    ...own,
    permission: 'deployment_update_list',
    summary: 'Lists deployment updates',
    list: {
      fields: deploymentUpdateFields,
      filters,
      sorts: filters,
      search: 'id',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(deploymentUpdate),
  },
  {
    id: 'getDeploymentUpdate',
    method: 'GET',
    path: `${path}/:update_id`,
    ...own,
    permission: 'deployment_update_get',
    summary: 'Reads one deployment update',
    params: z.object({ update_id: z.string() }),
    includeFields: shownFields,
    status: 200,
    response: shownUpdate,
  },
  { id: 'initiateDeploymentUpdate', method: 'PUT', summary: 'Starts a deployment update', ...initiate },
  {
    id: 'initiateDeploymentUpdateByPost',
    method: 'POST',
    summary: 'Starts a deployment update (clients from 6.4)',
    ...initiate,
  },
  {
    id: 'finalizeDeploymentUpdate',
    method: 'POST',
    path: `${path}/:update_id/update/finalize`,
    ...own,
    permission: 'deployment_update_create',
    summary: 'Reads the update: its workflow ends it by itself (old clients say when)',
    params: z.object({ update_id: z.string() }),
    includeFields: shownFields,
    isNotAudited: true,
    status: 200,
    response: shownUpdate,
  },
]);

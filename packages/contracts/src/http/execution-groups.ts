import { z } from 'zod';
import { defineRoutes } from '../route';
import {
  createdFields,
  envelope,
  jsonObject,
  ownedFields,
  queryBoolean,
  visibility,
} from './deployments-shapes';
import { executionStatus } from './executions';
import { columnsOf } from './list-columns';

/** ExecutionGroup (reference/rest-api.md 5.8). In lists, members and status are null without `_get_data`. */
const executionGroup = z
  .object({
    id: z.string(),
    ...ownedFields,
    workflow_id: z.string(),
    deployment_group_id: z.string().nullable(),
    concurrency: z.number().int(),
    execution_ids: z.array(z.string()).nullable(),
    status: executionStatus.nullable(),
  })
  .meta({ id: 'ExecutionGroup' });
const executionGroupFields = Object.keys(executionGroup.shape);

export const executionGroupAction = z.enum(['cancel', 'force-cancel', 'kill', 'resume', 'force-resume']);

const concurrency = z.number().int().min(0).max(10_000).describe('Executions at a time; 0 pauses');
const createBody = z.object({
  deployment_group_id: z.string().min(1),
  workflow_id: z.string().min(1),
  default_parameters: jsonObject.nullish(),
  parameters: z
    .record(z.string(), jsonObject)
    .nullish()
    .describe('By deployment id, over default_parameters'),
  force: z.boolean().nullish(),
  concurrency: concurrency.nullish(),
  visibility: visibility.nullish(),
  id: z.string().min(1).nullish(),
  associated_executions: z
    .array(z.string())
    .max(10_000)
    .nullish()
    .describe('Ended executions that become its members; none is started then (restores)'),
  ...createdFields,
});
const patchBody = z.object({
  concurrency: concurrency.nullish(),
  success_group_id: z.string().nullish(),
  failure_group_id: z.string().nullish(),
});

const own = { owner: 'executions', tenant: 'required', versions: ['v3.1'], spec: 'reference 5.8' } as const;
const getData = z.object({ _get_data: queryBoolean.optional() });
const filters = columnsOf(executionGroup, ['status']);
const one = { includeFields: executionGroupFields, status: 200, response: executionGroup } as const;

export const executionGroupRoutes = defineRoutes([
  {
    id: 'listExecutionGroups',
    method: 'GET',
    path: '/execution-groups',
    ...own,
    permission: 'execution_group_list',
    summary: 'Lists execution groups',
    query: getData,
    list: {
      fields: executionGroupFields,
      filters,
      sorts: filters,
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(executionGroup),
  },
  {
    id: 'createExecutionGroup',
    method: 'POST',
    path: '/execution-groups',
    ...own,
    permission: 'execution_group_create',
    isRefusedWhileCancelling: true,
    summary: 'Runs a workflow on every deployment of a deployment group',
    body: createBody,
    ...one,
  },
  {
    id: 'getExecutionGroup',
    method: 'GET',
    path: '/execution-groups/:id',
    ...own,
    permission: 'execution_group_get',
    summary: 'Reads one execution group',
    query: getData,
    ...one,
  },
  {
    id: 'actOnExecutionGroup',
    method: 'POST',
    path: '/execution-groups/:id',
    ...own,
    permission: 'execution_group_cancel',
    summary: 'Cancels, kills or resumes the members that are in a fitting state',
    body: z.object({ action: z.string() }),
    ...one,
  },
  {
    id: 'patchExecutionGroup',
    method: 'PATCH',
    path: '/execution-groups/:id',
    ...own,
    permission: 'execution_group_update',
    summary: 'Changes the concurrency, or names the groups that collect ended deployments',
    body: patchBody,
    ...one,
  },
]);

import { z } from 'zod';
import { defineRoutes } from '../route';
import { legacyFields } from './legacy-fields';
import { columnsOf } from './list-columns';
import { bodyFlag, cursorEnvelope, envelope, instant, jsonObject, visibility } from './shapes';

/** Execution statuses (reference/rest-api.md 6.1). */
export const executionStatus = z.enum([
  'pending',
  'started',
  'terminated',
  'failed',
  'cancelled',
  'cancelling',
  'force_cancelling',
  'kill_cancelling',
  'queued',
  'scheduled',
]);

/** Execution (spec v3.1 part 2 "Execution", reference/rest-api.md 5.7). */
export const execution = z
  .object({
    id: z.string().nullable(),
    workflow_id: z.string().nullable(),
    blueprint_id: z.string().nullable(),
    deployment_id: z.string().nullable(),
    deployment_display_name: z.string().nullable(),
    status: z.string(),
    status_display: z.string().nullable(),
    error: z.string().nullable(),
    parameters: jsonObject.nullable(),
    is_system_workflow: z.boolean().nullable(),
    is_dry_run: z.boolean().nullable(),
    resume: z.boolean().nullable(),
    allow_custom_parameters: z.boolean().nullable(),
    created_at: instant.nullable(),
    started_at: instant.nullable(),
    ended_at: instant.nullable(),
    scheduled_for: instant.nullable(),
    created_by: z.string().nullable(),
    tenant_name: z.string().nullable(),
    visibility: visibility.nullable(),
    private_resource: z.boolean().nullable(),
    resource_availability: visibility.nullable(),
    total_operations: z.number().int().nullable(),
    finished_operations: z.number().int().nullable(),
  })
  .meta({ id: 'Execution' });

/**
 * A single execution. In addition to the spec: `cancel_requested_at` when a cancel was requested, and `cancel_deadline`
 * only while it is being cancelled and running operations may end by themselves.
 */
const shownExecution = execution.partial().extend({
  cancel_requested_at: instant.optional().describe('When it was told to end'),
  cancel_deadline: instant
    .optional()
    .describe('While it is cancelling: when operations that still run are stopped'),
});

const executionFields = Object.keys(execution.shape);

/** Body of POST /executions (spec v3.1 part 2 "Executions"; `scheduled_time` is the original's name of `schedule`). */
export const startExecutionBody = z.object({
  workflow_id: z.string().min(1),
  deployment_id: z.string().optional(),
  parameters: jsonObject.nullish(),
  allow_custom_parameters: bodyFlag.optional(),
  force: bodyFlag.optional(),
  queue: bodyFlag.optional(),
  dry_run: bodyFlag.optional(),
  schedule: z.string().optional(),
  scheduled_time: z.string().optional(),
  wait_after_fail: z
    .union([z.number().int().min(0), z.string()])
    .nullish()
    .describe('Seconds, default 600'),
  is_system_workflow: z.boolean().optional(),
  id: z.string().optional(),
  error: z.string().nullish(),
  force_status: z
    .string()
    .nullish()
    .describe('terminated, failed or cancelled: it is stored as one that has ended, and not run'),
  created_at: z.string().nullish(),
  created_by: z.string().nullish(),
  started_at: z.string().nullish(),
  ended_at: z.string().nullish(),
});

export const executionAction = z.enum([
  'cancel',
  'force-cancel',
  'kill',
  'resume',
  'force-resume',
  'requeue',
]);

/** Actions on many executions at once. */
const bulkAction = z.enum(['cancel', 'force-cancel', 'kill', 'resume', 'force-resume']);

const waitReason = z.object({
  kind: z.enum([
    'lock',
    'queue',
    'concurrency',
    'maintenance',
    'planning',
    'worker',
    'agent',
    'lease',
    'retry-timer',
    'deferred',
    'effects',
    'schedule',
    'call',
    'nested',
    'cancel',
    'left-run',
    'share',
    'quota',
    'handlers',
  ]),
  message: z.string(),
  since: instant.nullable(),
  until: instant.nullable(),
  details: jsonObject,
});

/** Fields that `_target_field` and `_sub_field` of the summary accept (reference/rest-api.md 5.27). */
export const executionSummaryFields = [
  'status',
  'status_display',
  'blueprint_id',
  'deployment_id',
  'workflow_id',
  'tenant_name',
  'visibility',
] as const;

const BOTH = ['v2.1', 'v3.1'] as const;
const executionList = {
  fields: executionFields,
  filters: [...columnsOf(execution), 'execution_group_id'],
  sorts: columnsOf(execution),
  defaultSort: [{ field: 'created_at', descending: false }],
  extra: { _group_id: 'text', _include_system_workflows: 'flag' } as const,
  allowsAllTenants: true,
  allowsGetAll: true,
};

export const executionRoutes = defineRoutes([
  {
    id: 'listExecutions',
    method: 'GET',
    path: '/executions',
    owner: 'executions',
    permission: 'execution_list',
    tenant: 'required',
    versions: BOTH,
    summary: 'Executions of the tenant',
    spec: 'v3.1-part2 Executions; reference 5.7',
    list: { ...executionList, hasCursor: true },
    legacyFields: legacyFields.execution,
    status: 200,
    response: cursorEnvelope(execution.partial()),
  },
  {
    id: 'getExecution',
    method: 'GET',
    path: '/executions/:executionId',
    owner: 'executions',
    permission: 'execution_get',
    tenant: 'required',
    versions: BOTH,
    summary: 'One execution',
    spec: 'v3.1-part2 Executions; reference 5.7',
    includeFields: executionFields,
    legacyFields: legacyFields.execution,
    isAllowedToExecution: true,
    status: 200,
    response: shownExecution,
  },
  {
    id: 'startExecution',
    method: 'POST',
    path: '/executions',
    owner: 'executions',
    permission: 'execution_start',
    isRefusedWhileCancelling: true,
    tenant: 'required',
    versions: BOTH,
    summary: 'Run a workflow',
    spec: 'v3.1-part2 Executions; reference 5.7',
    body: startExecutionBody,
    includeFields: executionFields,
    legacyFields: legacyFields.execution,
    status: 201,
    response: execution.partial(),
  },
  {
    id: 'actOnExecution',
    method: 'POST',
    path: '/executions/:executionId',
    owner: 'executions',
    permission: 'execution_cancel',
    tenant: 'required',
    versions: BOTH,
    summary: 'Cancel, kill or resume an execution',
    spec: 'v3.1-part2 Executions; reference 6.2',
    body: z.object({ action: z.string(), deployment_id: z.string().nullish() }),
    includeFields: executionFields,
    legacyFields: legacyFields.execution,
    status: 200,
    response: shownExecution,
  },
  {
    id: 'patchExecution',
    method: 'PATCH',
    path: '/executions/:executionId',
    owner: 'executions',
    permission: 'execution_status_update',
    tenant: 'required',
    versions: BOTH,
    summary: 'Set the status of an execution',
    spec: 'v3.1-part2 Executions; reference 6.1',
    body: z.object({ status: z.string(), error: z.string().nullish() }),
    includeFields: executionFields,
    legacyFields: legacyFields.execution,
    isAllowedToExecution: true,
    status: 200,
    response: execution.partial(),
  },
  {
    id: 'deleteExecutions',
    method: 'DELETE',
    path: '/executions',
    owner: 'executions',
    permission: 'execution_delete',
    tenant: 'required',
    versions: ['v3.1'],
    summary: 'Delete ended executions',
    spec: 'v3.1-part2 Executions; reference 5.7',
    list: executionList,
    body: z.object({
      to_datetime: z.string().nullish(),
      keep_last: z.union([z.number().int(), z.string()]).nullish(),
    }),
    isBodyOptional: true,
    status: 200,
    response: envelope(z.union([z.object({ count: z.number().int() }), execution.partial()])),
  },
  {
    id: 'actOnExecutions',
    method: 'POST',
    path: '/executions/bulk',
    owner: 'executions',
    permission: 'execution_cancel',
    tenant: 'required',
    versions: ['v3.1'],
    summary: 'Cancel or resume every execution that the filters match, at most 500 at once, oldest first',
    spec: 'Baton',
    list: executionList,
    body: z.object({ action: bulkAction }),
    status: 200,
    response: envelope(
      z.object({
        id: z.string(),
        error_code: z.string().nullable().describe('Why it was refused; null: done'),
        message: z.string().nullable(),
      }),
    ),
  },
  {
    id: 'summarizeExecutions',
    method: 'GET',
    path: '/summary/executions',
    owner: 'executions',
    permission: 'execution_list',
    tenant: 'required',
    versions: ['v3.1'],
    summary: 'Counts executions by a field',
    spec: 'reference 5.27',
    query: z.object({ _target_field: z.string().optional(), _sub_field: z.string().optional() }),
    list: {
      ...executionList,
      fields: [],
      sorts: [],
      defaultSort: [],
      passedOver: ['_include', '_sort'],
    },
    status: 200,
    response: envelope(jsonObject),
  },
  {
    id: 'explainExecution',
    method: 'GET',
    path: '/executions/:executionId/why',
    owner: 'executions',
    permission: 'execution_get',
    tenant: 'required',
    versions: ['v3.1'],
    summary: 'What an execution waits for',
    spec: 'Baton',
    status: 200,
    response: z.object({ id: z.string(), status: z.string(), waiting_for: z.array(waitReason) }),
  },
]);

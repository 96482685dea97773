import { z } from 'zod';
import { defineRoutes } from '../route';
import { columnsOf } from './list-columns';
import { bodyFlag, createdFields, envelope, instant, jsonObject, resourceId, visibility } from './shapes';

/** Ten years. */
export const maxSlipMinutes = 5_256_000;

const rule = z.union([
  z.object({
    recurrence: z.string().nullable(),
    count: z.number().int().nullable(),
    weekdays: z.array(z.string()).nullable(),
  }),
  z.object({ rrule: z.string() }),
]);

/** Execution schedule (spec v3.1 part 2 "ExecutionSchedule", reference/rest-api.md 5.9). */
const executionSchedule = z
  .object({
    id: z.string(),
    deployment_id: z.string(),
    workflow_id: z.string(),
    parameters: jsonObject.nullable(),
    execution_arguments: jsonObject,
    since: instant.nullable(),
    until: instant.nullable(),
    rule,
    slip: z.number().int().describe('Minutes after its time in which a run is still started'),
    stop_on_fail: z.boolean(),
    enabled: z.boolean(),
    next_occurrence: instant.nullable(),
    all_next_occurrences: z.array(z.string()).describe('YYYY-MM-DD HH:MM:SS in UTC, at most 1000'),
    latest_execution: z.string().nullable(),
    latest_execution_status: z.string().nullable(),
    latest_skip: z
      .object({
        occurrence: instant,
        outcome: z.enum(['refused', 'skipped']).describe('refused: its start was; skipped: it was not tried'),
        reason: z.string(),
      })
      .nullable()
      .describe('The latest occurrence that did not run'),
    created_at: instant,
    created_by: z.string(),
    tenant_name: z.string(),
    visibility,
    private_resource: z.boolean(),
    resource_availability: visibility,
  })
  .meta({ id: 'ExecutionSchedule' });

const executionScheduleFields = Object.keys(executionSchedule.shape);

const whole = z
  .union([z.number().int(), z.string().regex(/^-?\d{1,9}$/, 'must be a whole number')])
  .transform(Number);

/** Common fields of PUT and PATCH: the run times, and the treatment of missed runs. */
const timing = {
  since: z.string().nullish().describe('YYYY-MM-DD HH:MM:SS in UTC'),
  until: z.string().nullish().describe('YYYY-MM-DD HH:MM:SS in UTC'),
  recurrence: z.string().nullish().describe('<integer> minutes|hours|days|weeks|months|years'),
  count: whole.nullish(),
  weekdays: z
    .union([z.array(z.string()).max(100), z.string()])
    .nullish()
    .describe('su, mo, ...; after 1 to 4 or l- with months or years'),
  rrule: z.string().nullish().describe('RFC 5545; excludes recurrence, count and weekdays'),
  slip: whole.pipe(z.number().min(0).max(maxSlipMinutes)).optional().describe('Minutes'),
  stop_on_fail: bodyFlag.optional(),
  enabled: bodyFlag.optional(),
};

export const createScheduleBody = z.object({
  workflow_id: z.string().min(1),
  parameters: jsonObject.nullish(),
  execution_arguments: z
    .object({
      allow_custom_parameters: bodyFlag.optional(),
      force: bodyFlag.optional(),
      dry_run: bodyFlag.optional(),
      is_dry_run: bodyFlag.optional(),
      wait_after_fail: whole.pipe(z.number().min(0)).optional(),
    })
    .nullish(),
  ...timing,
  ...createdFields,
});
export const updateScheduleBody = z.object({ ...timing, workflow_id: z.string().min(1).optional() });

const filters = columnsOf(executionSchedule);

/** Fields that the summary accepts. `_sub_field` also accepts `recurring`, and `recurrence` for the original's CLI. */
export const scheduleSummaryFields = ['deployment_id', 'workflow_id', 'tenant_name', 'visibility'] as const;

const list = {
  fields: executionScheduleFields,
  filters,
  sorts: filters,
  search: 'id',
  defaultSort: [{ field: 'created_at', descending: false }],
  allowsAllTenants: true,
  allowsGetAll: true,
} as const;

const own = {
  owner: 'executions',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'v3.1-part2 Execution schedules; reference 5.9',
} as const;
/** Schedules made by a blueprint may have any name; only names of new schedules are checked. */
const one = {
  params: z.object({ schedule_id: z.string() }),
  query: z.object({ deployment_id: z.string().min(1) }),
};
const shown = { includeFields: executionScheduleFields, response: executionSchedule.partial() };
const remove = {
  method: 'DELETE',
  ...own,
  ...one,
  permission: 'execution_schedule_create',
  status: 204,
} as const;

const occurrence = z.object({
  occurrence: instant,
  outcome: z.enum(['due', 'fired', 'refused', 'skipped']),
  reason: z.string().nullable(),
  execution_id: z.string().nullable(),
  decided_at: instant,
});

export const executionScheduleRoutes = defineRoutes([
  {
    id: 'listExecutionSchedules',
    method: 'GET',
    path: '/execution-schedules',
    ...own,
    permission: 'execution_schedule_list',
    summary: 'Execution schedules of the tenant',
    list,
    status: 200,
    response: envelope(executionSchedule.partial()),
  },
  {
    id: 'getExecutionSchedule',
    method: 'GET',
    path: '/execution-schedules/:schedule_id',
    ...own,
    ...one,
    permission: 'execution_schedule_get',
    summary: 'One execution schedule',
    status: 200,
    ...shown,
  },
  {
    id: 'createExecutionSchedule',
    method: 'PUT',
    path: '/execution-schedules/:schedule_id',
    ...own,
    ...one,
    params: z.object({ schedule_id: resourceId }),
    permission: 'execution_schedule_create',
    summary: 'Run a workflow at times to come',
    body: createScheduleBody,
    status: 201,
    ...shown,
  },
  {
    id: 'updateExecutionSchedule',
    method: 'PATCH',
    path: '/execution-schedules/:schedule_id',
    ...own,
    ...one,
    permission: 'execution_schedule_create',
    summary: 'Change when a schedule runs',
    body: updateScheduleBody,
    isBodyReadPlainly: true,
    status: 201,
    ...shown,
  },
  {
    id: 'deleteExecutionSchedule',
    path: '/execution-schedules/:schedule_id',
    ...remove,
    summary: 'Delete an execution schedule',
  },
  {
    id: 'deleteExecutionsSchedule',
    path: '/executions-schedules/:schedule_id',
    ...remove,
    summary: 'Delete an execution schedule, by the path that the specification spells',
  },
  {
    id: 'listScheduleOccurrences',
    method: 'GET',
    path: '/execution-schedules/:schedule_id/occurrences',
    ...own,
    ...one,
    spec: 'Baton',
    permission: 'execution_schedule_get',
    summary: 'What became of the past occurrences of a schedule, the latest 1000, newest first',
    status: 200,
    response: envelope(occurrence),
  },
  {
    id: 'summarizeExecutionSchedules',
    method: 'GET',
    path: '/summary/execution_schedules',
    ...own,
    spec: 'reference 5.27',
    permission: 'execution_schedule_list',
    summary: 'Counts execution schedules by a field',
    query: z.object({ _target_field: z.string().optional(), _sub_field: z.string().optional() }),
    list: { ...list, fields: [], sorts: [], defaultSort: [], passedOver: ['_include', '_sort'] },
    status: 200,
    response: envelope(jsonObject),
  },
]);

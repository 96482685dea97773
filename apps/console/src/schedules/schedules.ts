/** Reads and changes schedules. A schedule is identified by its deployment and its id. */
import type { Client, ItemOf, Operations } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { listOf } from '../api/lists';

export const SCHEDULES = 'schedules';

const ROW_FIELDS = [
  'id',
  'deployment_id',
  'workflow_id',
  'rule',
  'enabled',
  'next_occurrence',
  'latest_execution',
  'latest_execution_status',
  'latest_skip',
] as const;
const DETAIL_FIELDS = [
  ...ROW_FIELDS,
  'since',
  'until',
  'parameters',
  'slip',
  'stop_on_fail',
  'all_next_occurrences',
  'created_at',
  'created_by',
  'tenant_name',
] as const;

type Schedule = Required<ItemOf<'listExecutionSchedules'>>;
export type ScheduleRow = Pick<Schedule, (typeof ROW_FIELDS)[number]>;
export type ScheduleDetail = Pick<Schedule, (typeof DETAIL_FIELDS)[number]>;
export type ScheduleRule = Schedule['rule'];
/** Identifies a schedule. */
export interface SchedulePlace {
  deployment_id: string;
  id: string;
}

export const scheduleList = listOf<ScheduleRow>(SCHEDULES, 'listExecutionSchedules', ROW_FIELDS);

const argsOf = ({ deployment_id, id }: SchedulePlace) => ({
  params: { schedule_id: id },
  query: { deployment_id },
});

export const scheduleQuery = (client: Client, tenant: string, place: SchedulePlace) =>
  queryOptions({
    queryKey: [SCHEDULES, tenant, 'one', place],
    queryFn: async ({ signal }): Promise<ScheduleDetail> =>
      (await client.call('getExecutionSchedule', {
        tenant,
        signal,
        params: { schedule_id: place.id },
        query: { deployment_id: place.deployment_id, _include: DETAIL_FIELDS.join(',') },
      })) as ScheduleDetail,
  });

/** Results of past times, newest first; at most 1,000. */
export const occurrencesQuery = (client: Client, tenant: string, place: SchedulePlace) =>
  queryOptions({
    queryKey: [SCHEDULES, tenant, 'occurrences', place],
    queryFn: async ({ signal }) =>
      (await client.call('listScheduleOccurrences', { tenant, signal, ...argsOf(place) })).items,
  });

/** Workflows of a deployment, including workflows that are unavailable now: they may be available at the scheduled time. */
export const workflowNamesQuery = (client: Client, tenant: string, deploymentId: string) =>
  queryOptions({
    queryKey: [SCHEDULES, tenant, 'workflows', deploymentId],
    queryFn: async ({ signal }): Promise<string[]> =>
      (await client.call('listWorkflows', { tenant, signal, query: { id: deploymentId } })).items.flatMap(
        ({ name }) => (name === null ? [] : [name]),
      ),
  });

export type NewSchedule = Operations['createExecutionSchedule']['body'];
export type ScheduleChange = Operations['updateExecutionSchedule']['body'];

export const createSchedule = (client: Client, tenant: string, place: SchedulePlace, body: NewSchedule) =>
  client.call('createExecutionSchedule', { tenant, ...argsOf(place), body });

export const changeSchedule = (client: Client, tenant: string, place: SchedulePlace, body: ScheduleChange) =>
  client.call('updateExecutionSchedule', { tenant, ...argsOf(place), body });

export const deleteSchedule = (client: Client, tenant: string, place: SchedulePlace) =>
  client.call('deleteExecutionSchedule', { tenant, ...argsOf(place) });

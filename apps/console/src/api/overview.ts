/** Data of the overview screen: the few rows that need a person's attention, each list in one request. */
import type { Client, ItemOf } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { deploymentKeys } from './deployments';
import { type ExecutionRow, executionKeys, readExecutionRows } from './executions';
import { pageOf } from './pages';

/** Rows of a short list. A link leads to the whole list. */
const SHORT = 6;
/** Maximum of executions whose reasons for waiting are read: each costs one request. */
const MOST_ASKED = 5;

/** Statuses in which an execution may be stuck. `scheduled` is not one of them: it starts by itself at its time. */
const MAY_WAIT = ['pending', 'queued', 'started', 'cancelling', 'force_cancelling', 'kill_cancelling'];

const DRIFT_FIELDS = ['id', 'display_name', 'drifted_instances', 'unavailable_instances'] as const;
export interface DriftedRow {
  id: string;
  display_name: string;
  drifted_instances: number;
  unavailable_instances: number;
}

const SCHEDULE_FIELDS = ['id', 'deployment_id', 'workflow_id', 'next_occurrence'] as const;
export type NextSchedule = Required<Pick<ItemOf<'listExecutionSchedules'>, (typeof SCHEDULE_FIELDS)[number]>>;

/** The newest failed executions. */
export const newestFailuresQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: [...executionKeys.lists(tenant), 'failures'],
    queryFn: ({ signal }): Promise<ExecutionRow[]> =>
      readExecutionRows(client, tenant, { status: 'failed', _sort: ['-created_at', 'id'] }, SHORT, signal),
  });

/** The oldest executions that have not ended. The key lies below the counts, so each change of an execution reloads them. */
export const oldestRunningQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: [...executionKeys.lists(tenant), 'counts', 'oldest'],
    queryFn: ({ signal }): Promise<ExecutionRow[]> =>
      readExecutionRows(
        client,
        tenant,
        { status: MAY_WAIT, _sort: ['created_at', 'id'] },
        MOST_ASKED,
        signal,
      ),
  });

/** Deployments with the most drift. The key lies below the counts, as above. */
export const mostDriftedQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: [...deploymentKeys.lists(tenant), 'counts', 'drifted'],
    queryFn: async ({ signal }) => {
      const { items } = pageOf<DriftedRow>(
        await client.call('listDeployments', {
          tenant,
          signal,
          query: { _include: DRIFT_FIELDS.join(','), _sort: ['-drifted_instances', 'id'], _size: SHORT },
        }),
      );
      return items.filter(({ drifted_instances }) => drifted_instances > 0);
    },
  });

/** Schedules that fire next. */
export const nextSchedulesQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['schedules', tenant, 'next'],
    queryFn: async ({ signal }) => {
      const { items } = pageOf<NextSchedule>(
        await client.call('listExecutionSchedules', {
          tenant,
          signal,
          query: {
            enabled: 'true',
            _include: SCHEDULE_FIELDS.join(','),
            _sort: ['next_occurrence', 'id'],
            _size: SHORT,
          },
        }),
      );
      return items.filter(({ next_occurrence }) => next_occurrence !== null);
    },
  });

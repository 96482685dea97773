/** Reads executions and sends commands to them. */
import type { Client, ItemOf } from '@baton/client';
import { newId } from '@baton/kernel';
import { queryOptions } from '@tanstack/react-query';
import { mergeGraph } from '../execution/merge-graph';
import type { ExecutionGraph } from './answers';
import { type ApiQuery, PAGE_SIZE, pageOf } from './pages';

const ROW_FIELDS = [
  'id',
  'workflow_id',
  'deployment_id',
  'deployment_display_name',
  'status',
  'created_at',
  'started_at',
  'ended_at',
  'created_by',
  'total_operations',
  'finished_operations',
  'is_dry_run',
  'error',
] as const;

type ExecutionFields = ItemOf<'listExecutions'>;
export type ExecutionRow = Required<Pick<ExecutionFields, (typeof ROW_FIELDS)[number]>>;
export type ExecutionDetail = ExecutionFields & { cancel_deadline?: string };
export type ExecutionAction = 'cancel' | 'force-cancel' | 'kill' | 'resume' | 'force-resume';

export const executionKeys = {
  lists: (tenant: string) => ['executions', tenant] as const,
  pages: (tenant: string) => ['executions', tenant, 'page'] as const,
  one: (tenant: string, id: string) => ['execution', tenant, id] as const,
  /** Separate from the execution keys: an execution may wait for any other execution of the tenant. */
  whys: (tenant: string) => ['why', tenant] as const,
};

const ENDED = new Set(['terminated', 'failed', 'cancelled']);
/** Whether the execution has ended: its state changes only when somebody resumes it. */
export const hasEnded = (status: string | null | undefined): boolean => ENDED.has(status ?? '');

export const executionPageQuery = (client: Client, tenant: string, query: ApiQuery, offset: number) =>
  queryOptions({
    queryKey: [...executionKeys.pages(tenant), query, offset] as readonly unknown[],
    queryFn: async ({ signal }) =>
      pageOf<ExecutionRow>(
        await client.call('listExecutions', {
          tenant,
          signal,
          query: { ...query, _include: ROW_FIELDS.join(','), _size: PAGE_SIZE, _offset: offset },
        }),
      ),
  });

/** Returns the first rows of a list, without its total. @throws ApiError */
export const readExecutionRows = async (
  client: Client,
  tenant: string,
  query: ApiQuery,
  size: number,
  signal: AbortSignal,
): Promise<ExecutionRow[]> =>
  pageOf<ExecutionRow>(
    await client.call('listExecutions', {
      tenant,
      signal,
      query: { ...query, _include: ROW_FIELDS.join(','), _size: size },
    }),
  ).items;

export const executionCountsQuery = (client: Client, tenant: string, query: ApiQuery) =>
  queryOptions({
    queryKey: [...executionKeys.lists(tenant), 'counts', query],
    queryFn: async ({ signal }) => {
      const { items } = await client.call('summarizeExecutions', {
        tenant,
        signal,
        query: { ...query, _target_field: 'status', _size: 20 },
      });
      return Object.fromEntries(
        items.map((item) => [String(item.status), Number(item.executions)]),
      ) as Record<string, number>;
    },
  });

export const executionQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...executionKeys.one(tenant, id), 'detail'],
    queryFn: async ({ signal }): Promise<ExecutionDetail> =>
      await client.call('getExecution', { tenant, signal, params: { executionId: id } }),
  });

export const whyQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...executionKeys.whys(tenant), id],
    queryFn: ({ signal }) => client.call('explainExecution', { tenant, signal, params: { executionId: id } }),
  });

/** What screens show of a task. Its parameters are most of it, and are read when somebody opens it. */
const TASK_FIELDS = [
  ...[
    'id',
    'name',
    'state',
    'type',
    'dependencies',
    'node_instance_id',
    'operation',
    'source_id',
    'target_id',
  ],
  ...['started_at', 'ended_at', 'attempt', 'next_retry_at', 'error'],
].join(',');

/** Reads the whole graph first, then only tasks that changed since the cached version. */
export const graphQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...executionKeys.one(tenant, id), 'graph'],
    queryFn: async ({ signal, client: cache, queryKey }): Promise<ExecutionGraph> => {
      const known = cache.getQueryData<ExecutionGraph>(queryKey);
      const since = known && !known.is_planned ? known.version : undefined;
      const answer = (await client.call('getExecutionGraph', {
        tenant,
        signal,
        params: { executionId: id },
        query: { since_version: since, _include: TASK_FIELDS },
      })) as ExecutionGraph;
      return known && since !== undefined ? mergeGraph(known, answer) : answer;
    },
    // Merged manually: a deep comparison of 10,000 tasks would cost more than it saves.
    structuralSharing: false,
  });

/** One task with all that the manager knows of it. */
export const taskQuery = (client: Client, tenant: string, executionId: string, taskId: string) =>
  queryOptions({
    queryKey: [...executionKeys.one(tenant, executionId), 'task', taskId],
    queryFn: ({ signal }) =>
      client.call('getOperation', { tenant, signal, params: { operation_id: taskId } }),
  });

export interface Start {
  deployment_id: string;
  workflow_id: string;
  parameters?: Record<string, unknown>;
  force?: boolean;
  queue?: boolean;
  dry_run?: boolean;
}

/** Starts an execution exactly once, even if the connection breaks: the request has an idempotency key. @throws ApiError */
export const startExecution = async (client: Client, tenant: string, body: Start): Promise<ExecutionDetail> =>
  await client.call('startExecution', { tenant, body, idempotencyKey: newId() });

/** @throws ApiError */
export const actOnExecution = async (
  client: Client,
  tenant: string,
  id: string,
  action: ExecutionAction,
): Promise<ExecutionDetail> =>
  await client.call('actOnExecution', { tenant, params: { executionId: id }, body: { action } });

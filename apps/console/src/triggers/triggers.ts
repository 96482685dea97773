/** Reads and changes triggers. Only the answers to a creation and a rotation have a secret. */
import type { Client, Operations, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { listOf } from '../api/lists';
import { problemOf } from '../api/problem';

export const TRIGGERS = 'triggers';
/** Permissions of triggers: those of schedules. */
export const LISTS_TRIGGERS = 'execution_schedule_list';
export const MAKES_TRIGGERS = 'execution_schedule_create';

const ROW_FIELDS = [
  'id',
  'deployment_id',
  'workflow_id',
  'scheme',
  'is_enabled',
  'last_call_at',
  'last_execution_id',
  'created_by',
] as const;
const DETAIL_FIELDS = [
  ...ROW_FIELDS,
  'path',
  'parameters',
  'fixed_parameters',
  'former_secret_until',
  'created_at',
  'updated_at',
  'tenant_name',
] as const;
type Trigger = Schemas['Trigger'];
export type TriggerRow = Pick<Trigger, (typeof ROW_FIELDS)[number]>;
export type TriggerDetail = Pick<Trigger, (typeof DETAIL_FIELDS)[number]>;

export const triggerList = listOf<TriggerRow>(TRIGGERS, 'listTriggers', ROW_FIELDS);

export const triggerQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [TRIGGERS, tenant, 'one', id],
    queryFn: async ({ signal }): Promise<TriggerDetail> =>
      await client.call('getTrigger', {
        tenant,
        signal,
        params: { trigger_id: id },
        query: { _include: DETAIL_FIELDS.join(',') },
      }),
  });

/** Whether the user that a trigger acts as may sign in; false as well when the user is gone. */
export const isActiveQuery = (client: Client, tenant: string, username: string) =>
  queryOptions({
    queryKey: ['users', tenant, 'is active', username],
    queryFn: async ({ signal }): Promise<boolean> => {
      try {
        const query = { _include: 'username,active' };
        return (await client.call('getUser', { tenant, signal, params: { username }, query })).active;
      } catch (error) {
        if (problemOf(error).kind === 'missing') return false;
        throw error;
      }
    },
  });

const params = (id: string) => ({ trigger_id: id });
export type NewTrigger = Operations['createTrigger']['body'];
export type TriggerChange = Operations['updateTrigger']['body'];

export const createTrigger = (client: Client, tenant: string, id: string, body: NewTrigger) =>
  client.call('createTrigger', { tenant, params: params(id), body });

export const changeTrigger = (client: Client, tenant: string, id: string, body: TriggerChange) =>
  client.call('updateTrigger', { tenant, params: params(id), body });

export const deleteTrigger = (client: Client, tenant: string, id: string) =>
  client.call('deleteTrigger', { tenant, params: params(id) });

export const rotateTrigger = (client: Client, tenant: string, id: string, overlapS: number) =>
  client.call('rotateTrigger', { tenant, params: params(id), body: { overlap_s: overlapS } });

/** Reads and changes webhooks and their deliveries. Only the answers to a creation and a rotation have a secret. */
import type { AnswerOf, Client, Operations, Schemas } from '@baton/client';
import { type QueryKey, queryOptions } from '@tanstack/react-query';
import { listOf } from '../api/lists';

export const WEBHOOKS = 'webhooks';
/** Permission of all that concerns webhooks: they hear of private resources, too. */
export const MANAGES_WEBHOOKS = 'administrators';

const ROW_FIELDS = [
  'id',
  'url',
  'events',
  'is_enabled',
  'disabled_reason',
  'last_delivery_state',
  'last_delivery_at',
] as const;
const DETAIL_FIELDS = [
  ...ROW_FIELDS,
  'filter',
  'format',
  'template',
  'max_attempts',
  'order_by',
  'header_names',
  'disabled_at',
  'former_key_until',
  'created_at',
  'updated_at',
  'created_by',
  'tenant_name',
] as const;
type Webhook = Schemas['Webhook'];
export type WebhookRow = Pick<Webhook, (typeof ROW_FIELDS)[number]>;
export type WebhookDetail = Pick<Webhook, (typeof DETAIL_FIELDS)[number]>;

const DELIVERY_FIELDS = [
  'id',
  'event',
  'state',
  'attempts',
  'last_status',
  'error',
  'next_attempt_at',
  'created_at',
] as const;
export type DeliveryRow = Pick<Schemas['WebhookDelivery'], (typeof DELIVERY_FIELDS)[number]>;
export type Delivery = AnswerOf<'getWebhookDelivery'>;

export const webhookList = listOf<WebhookRow>(WEBHOOKS, 'listWebhooks', ROW_FIELDS);
export const deliveryList = (id: string) =>
  listOf<DeliveryRow>(WEBHOOKS, 'listWebhookDeliveries', DELIVERY_FIELDS, { webhook_id: id });

/** While something is pending, it is read again so often: no stream tells of deliveries. */
const PENDING_MS = 3_000;

const pollWhile = (isPending: boolean | undefined): number | false => (isPending ? PENDING_MS : false);

/** Read again while its latest delivery is pending. */
export const webhookQuery = (client: Client, tenant: string, id: string) => ({
  ...queryOptions({
    queryKey: [WEBHOOKS, tenant, 'one', id] as QueryKey,
    queryFn: async ({ signal }): Promise<WebhookDetail> =>
      await client.call('getWebhook', {
        tenant,
        signal,
        params: { webhook_id: id },
        query: { _include: DETAIL_FIELDS.join(',') },
      }),
  }),
  // A delivery that fails for good disables its webhook.
  refetchInterval: ({ state }: { state: { data: WebhookDetail | undefined } }) =>
    pollWhile(state.data?.last_delivery_state === 'pending'),
});

/** The latest deliveries of a webhook; read again while one of them is pending. */
export const latestDeliveriesQuery = (client: Client, tenant: string, id: string, size: number) => ({
  ...queryOptions({
    queryKey: [WEBHOOKS, tenant, 'latest', id, size] as QueryKey,
    queryFn: async ({ signal }): Promise<DeliveryRow[]> =>
      (
        await client.call('listWebhookDeliveries', {
          tenant,
          signal,
          params: { webhook_id: id },
          query: { _include: DELIVERY_FIELDS.join(','), _sort: ['-created_at', 'id'], _size: size },
        })
      ).items as DeliveryRow[],
  }),
  refetchInterval: ({ state }: { state: { data: DeliveryRow[] | undefined } }) =>
    pollWhile(state.data?.some((one) => one.state === 'pending')),
});

/** One delivery with its payload. */
export const deliveryQuery = (client: Client, tenant: string, id: string, delivery: string) => ({
  ...queryOptions({
    queryKey: [WEBHOOKS, tenant, 'delivery', id, delivery] as QueryKey,
    queryFn: ({ signal }): Promise<Delivery> =>
      client.call('getWebhookDelivery', {
        tenant,
        signal,
        params: { webhook_id: id, delivery_id: delivery },
      }),
  }),
  refetchInterval: ({ state }: { state: { data: Delivery | undefined } }) =>
    pollWhile(state.data?.state === 'pending'),
});

export type NewWebhook = Operations['createWebhook']['body'];
export type WebhookChange = Operations['updateWebhook']['body'];
const params = (id: string) => ({ webhook_id: id });

export const createWebhook = (client: Client, tenant: string, id: string, body: NewWebhook) =>
  client.call('createWebhook', { tenant, params: params(id), body });

export const changeWebhook = (client: Client, tenant: string, id: string, body: WebhookChange) =>
  client.call('updateWebhook', { tenant, params: params(id), body });

export const deleteWebhook = (client: Client, tenant: string, id: string) =>
  client.call('deleteWebhook', { tenant, params: params(id) });

export const pingWebhook = (client: Client, tenant: string, id: string) =>
  client.call('pingWebhook', { tenant, params: params(id) });

export const rotateWebhook = (client: Client, tenant: string, id: string, overlapS: number) =>
  client.call('rotateWebhook', { tenant, params: params(id), body: { overlap_s: overlapS } });

export const redeliver = (client: Client, tenant: string, id: string, delivery: string) =>
  client.call('redeliverWebhook', { tenant, params: { webhook_id: id, delivery_id: delivery } });

import { z } from 'zod';
import { defineRoutes } from '../route';
import { EVERY_EVENT, webhookEvents, webhookFilterFields } from '../webhook-events';
import { columnsOf } from './list-columns';
import { bodyFlag, envelope, instant, jsonObject, overlapSeconds, resourceId } from './shapes';

const MAX_URL = 2048;
const MAX_HEADER_TEXT = 4096;
const MAX_HEADERS = 20;
const MAX_TEMPLATE = 16_384;
const MAX_FILTER_VALUES = 100;
/** Attempts at one delivery: at most, and when a webhook names no number. */
const MOST_ATTEMPTS = 50;
const USUAL_ATTEMPTS = 20;

const names = z.union([
  z.string().min(1).max(256),
  z.array(z.string().min(1).max(256)).min(1).max(MAX_FILTER_VALUES),
]);
const filter = z.strictObject(
  Object.fromEntries(webhookFilterFields.map((field) => [field, names.optional()])),
) as unknown as z.ZodType<Partial<Record<(typeof webhookFilterFields)[number], string | string[]>>>;
const format = z.enum(['standard', 'cloudevents', 'slack', 'template']);
const deliveryState = z.enum(['pending', 'delivered', 'failed']);

/** Webhook. It belongs to its tenant, not to its creator (docs/adr/0033-webhooks.md). */
const webhook = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    filter: jsonObject.nullable(),
    format,
    template: z.string().nullable(),
    max_attempts: z.number().int(),
    order_by: z.string().nullable(),
    header_names: z
      .array(z.string())
      .describe('Names of the additional headers; their values are never shown'),
    is_enabled: z.boolean(),
    disabled_reason: z.string().nullable(),
    disabled_at: instant.nullable(),
    former_key_until: instant.nullable().describe('End of the former signing key after a rotation'),
    last_delivery_state: deliveryState.nullable().describe('State of the latest delivery'),
    last_delivery_at: instant.nullable().describe('When the event of the latest delivery was told'),
    created_at: instant,
    updated_at: instant,
    created_by: z.string(),
    tenant_name: z.string(),
  })
  .meta({ id: 'Webhook' });
const webhookFields = Object.keys(webhook.shape);
/** The only answers that hold the signing secret. */
const withSecret = webhook.extend({ secret: z.string().describe('whsec_...; shown only this once') });

const delivery = z
  .object({
    id: z.string().describe('Value of the header webhook-id in all attempts'),
    webhook_id: z.string(),
    event: z.string(),
    state: deliveryState,
    attempts: z.number().int(),
    last_status: z.number().int().nullable().describe('HTTP status of the last answer; null: there was none'),
    error: z.string().nullable(),
    answer: z.string().nullable().describe('The first KiB of the last answer'),
    next_attempt_at: instant.nullable(),
    give_up_at: instant,
    created_at: instant,
    ended_at: instant.nullable(),
    tenant_name: z.string(),
  })
  .meta({ id: 'WebhookDelivery' });
const deliveryFields = Object.keys(delivery.shape);
const deliveryWithPayload = delivery.extend({ payload: z.string(), content_type: z.string() });

const shared = {
  url: z.string().min(1).max(MAX_URL),
  events: z
    .array(z.enum([...webhookEvents, EVERY_EVENT]))
    .min(1)
    .max(webhookEvents.length + 1),
  filter: filter.nullish(),
  format,
  template: z
    .string()
    .max(MAX_TEMPLATE)
    .nullish()
    .describe(
      'For the format template: JSON in which {{type}}, {{id}}, {{timestamp}} and {{data.<field>}} are replaced',
    ),
  max_attempts: z.number().int().min(1).max(MOST_ATTEMPTS),
  order_by: z
    .enum(['deployment'])
    .nullish()
    .describe('deployment: events of a deployment arrive one after the other'),
  headers: z
    .record(z.string().min(1).max(128), z.string().max(MAX_HEADER_TEXT))
    .refine((all) => Object.keys(all).length <= MAX_HEADERS, `at most ${MAX_HEADERS} headers`)
    .nullish()
    .describe('Additional headers of each request; values are stored encrypted and never shown'),
  is_enabled: bodyFlag,
};
export const putWebhookBody = z
  .strictObject({
    ...shared,
    format: format.default('standard'),
    max_attempts: shared.max_attempts.default(USUAL_ATTEMPTS),
    is_enabled: shared.is_enabled.default(true),
  })
  .meta({ id: 'WebhookCreate' });
export const patchWebhookBody = z.strictObject(shared).partial().meta({ id: 'WebhookUpdate' });

const columns = columnsOf(webhook);
const deliveryColumns = columnsOf(delivery, ['answer']);
/** The webhooks of a tenant hear of all its resources, private ones included: so they are for its managers. */
const own = {
  owner: 'cluster-status',
  tenant: 'required',
  permission: 'administrators',
  versions: ['v3.1'],
  spec: 'Baton',
} as const;
const one = '/webhooks/:webhook_id';
const oneDelivery = `${one}/deliveries/:delivery_id` as const;
const params = z.object({ webhook_id: resourceId });

export const webhookRoutes = defineRoutes([
  {
    ...own,
    id: 'listWebhooks',
    method: 'GET',
    path: '/webhooks',
    summary: 'Webhooks of the tenant',
    list: {
      fields: webhookFields,
      filters: columns,
      sorts: columns,
      search: 'id',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: false,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(webhook),
  },
  {
    ...own,
    id: 'getWebhook',
    method: 'GET',
    path: one,
    summary: 'One webhook',
    includeFields: webhookFields,
    status: 200,
    response: webhook,
  },
  {
    ...own,
    id: 'createWebhook',
    method: 'PUT',
    path: one,
    summary: 'Creates a webhook; the answer shows its signing secret this once',
    params,
    body: putWebhookBody,
    status: 201,
    response: withSecret,
  },
  {
    ...own,
    id: 'updateWebhook',
    method: 'PATCH',
    path: one,
    summary: 'Changes a webhook; enabling it gives its waiting deliveries a new start',
    body: patchWebhookBody,
    status: 200,
    response: webhook,
  },
  {
    ...own,
    id: 'deleteWebhook',
    method: 'DELETE',
    path: one,
    summary: 'Deletes a webhook with its deliveries',
    status: 204,
  },
  {
    ...own,
    id: 'pingWebhook',
    method: 'POST',
    path: `${one}/ping`,
    summary: 'Sends the event ping to the webhook',
    status: 201,
    response: delivery,
  },
  {
    ...own,
    id: 'rotateWebhook',
    method: 'POST',
    path: `${one}/rotate`,
    summary: 'Makes a new signing secret; the former one stays valid for a time',
    body: z.strictObject({ overlap_s: overlapSeconds }),
    isBodyOptional: true,
    status: 200,
    response: withSecret,
  },
  {
    ...own,
    id: 'listWebhookDeliveries',
    method: 'GET',
    path: `${one}/deliveries`,
    summary: 'Deliveries of a webhook without their payloads',
    list: {
      fields: deliveryFields,
      filters: deliveryColumns,
      sorts: deliveryColumns,
      search: 'event',
      defaultSort: [{ field: 'created_at', descending: true }],
      allowsAllTenants: false,
      allowsGetAll: false,
    },
    status: 200,
    response: envelope(delivery),
  },
  {
    ...own,
    id: 'getWebhookDelivery',
    method: 'GET',
    path: oneDelivery,
    summary: 'One delivery with its payload',
    includeFields: Object.keys(deliveryWithPayload.shape),
    status: 200,
    response: deliveryWithPayload,
  },
  {
    ...own,
    id: 'redeliverWebhook',
    method: 'POST',
    path: `${oneDelivery}/redeliver`,
    summary: 'Sends an ended delivery again, under the same webhook-id',
    status: 200,
    response: delivery,
  },
]);

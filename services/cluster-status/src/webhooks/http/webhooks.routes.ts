import { webhookRoutes } from '@baton/contracts/http/webhooks';
import { type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import type { Secret } from '@baton/kernel';
import { changedByPeople } from '../../http/for-people';
import {
  changeWebhook,
  createWebhook,
  pingWebhook,
  redeliver,
  removeWebhook,
  rotateWebhook,
  type WebhookDeps,
} from '../commands/change-webhook';
import { findDelivery, findDeliveryWithPayload, listDeliveries } from '../queries/deliveries';
import { listWebhooks, shownWebhook } from '../queries/webhooks';

/** Webhooks and their deliveries (docs/webhooks.md). */
export function webhooksHttp(deps: WebhookDeps): BoundRoute[] {
  const { query } = deps.db;
  const shown = ({ principal, params }: HttpCall) => shownWebhook(query, principal, params.webhook_id!);
  const withSecret = async (call: HttpCall, secret: Secret) => ({
    ...(await shown(call)),
    secret: secret.expose(),
  });
  const delivery = ({ principal, params }: HttpCall, id: string) =>
    findDelivery(query, principal.tenant, params.webhook_id!, id);
  const routes = bindRoutes(webhookRoutes, {
    listWebhooks: async ({ principal, list }) =>
      listEnvelope(await listWebhooks(query, principal, list), list),
    getWebhook: shown,
    createWebhook: async (call) =>
      withSecret(call, await createWebhook(deps, call.principal, call.params.webhook_id!, call.body)),
    updateWebhook: async (call) => {
      await changeWebhook(deps, call.principal, call.params.webhook_id!, call.body);
      return shown(call);
    },
    deleteWebhook: ({ principal, params }) => removeWebhook(deps, principal, params.webhook_id!),
    pingWebhook: async (call) =>
      delivery(call, await pingWebhook(deps, call.principal, call.params.webhook_id!)),
    rotateWebhook: async (call) => {
      const overlapS = call.body?.overlap_s ?? 86_400;
      return withSecret(call, await rotateWebhook(deps, call.principal, call.params.webhook_id!, overlapS));
    },
    listWebhookDeliveries: async (call) => {
      const { principal, params, list } = call;
      // 404 for a webhook that does not exist, instead of an empty list.
      await shown(call);
      return listEnvelope(await listDeliveries(query, principal, params.webhook_id!, list), list);
    },
    getWebhookDelivery: async (call) => {
      const { principal, params } = call;
      // The same 404 as above, before that of the delivery.
      await shown(call);
      return findDeliveryWithPayload(query, principal.tenant, params.webhook_id!, params.delivery_id!);
    },
    redeliverWebhook: async (call) => {
      const { webhook_id: webhook, delivery_id: id } = call.params;
      await redeliver(deps, call.principal, { webhook: webhook!, delivery: id! });
      return delivery(call, id!);
    },
  });
  return changedByPeople(routes);
}

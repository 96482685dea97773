import { webhookInterestChanged } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { type Db, inbox, outbox, type Tx } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { isWanted, listensToExecutions, orderKeyOf, type WebhookEvent } from '../domain/event';
import { GIVE_UP_MS } from '../domain/outcome';
import { renderPayload } from '../domain/render-payload';
import { hasWaiting, insertDelivery } from '../store/deliveries.sql';
import {
  disableWebhook,
  enabledWebhooks,
  hasWebhooks,
  lockInterest,
  setInterest,
  type WebhookRow,
} from '../store/webhooks.sql';

const CONSUMER = 'cluster-status-webhooks';
/** A webhook with more waiting deliveries than this is disabled: its endpoint will never catch up. */
const MOST_WAITING = 10_000;

export interface TellDeps {
  db: Db<DB>;
  /** Called when deliveries were written: they are due at once. */
  kick(): void;
}

/**
 * Writes a delivery for each webhook that wants one of these events. Deliveries and the note that the message was seen are one
 * transaction: a crash before the commit repeats the message, a repeated message writes nothing.
 */
export async function tellEvents(
  deps: TellDeps,
  messageId: string,
  tenant: string,
  events: readonly WebhookEvent[],
): Promise<void> {
  if (events.length === 0 || !(await hasWebhooks(deps.db.query, tenant))) return;
  const written = await deps.db.tx(async (tx) => {
    if (!(await inbox.once(tx, CONSUMER, messageId))) return 0;
    return await tellInTx(tx, tenant, events);
  });
  if (written > 0) deps.kick();
}

/** Writes the deliveries of events of one tenant, whose webhooks are read once. Returns their number. */
async function tellInTx(tx: Tx<DB>, tenant: string, events: readonly WebhookEvent[]): Promise<number> {
  let count = 0;
  for (const webhook of await enabledWebhooks(tx, tenant)) {
    const wanted = events.filter((event) => isWanted(webhook, event));
    if (wanted.length === 0) continue;
    // A message has at most some hundred events: the limit is judged once for all of them.
    if (await hasWaiting(tx, webhook.uid, MOST_WAITING)) {
      await disableAndTell(tx, webhook.uid, `${MOST_WAITING} deliveries wait`);
      continue;
    }
    for (const event of wanted) if ((await writeDelivery(tx, webhook, event)) !== null) count++;
  }
  return count;
}

/** Writes one delivery; returns its id, or null when the webhook has one of this event already. */
export async function writeDelivery(
  tx: Tx<DB>,
  webhook: WebhookRow,
  event: WebhookEvent,
): Promise<string | null> {
  const id = newId();
  const { body, contentType } = renderPayload(webhook, event, id);
  const row = {
    id,
    webhook: webhook.uid,
    tenant: event.tenant,
    event_id: event.id,
    event: event.type,
    order_key: orderKeyOf(webhook, event),
    payload: body,
    content_type: contentType,
  };
  return (await insertDelivery(tx, row, GIVE_UP_MS)) ? id : null;
}

/** Disables a webhook, records the reason, and tells the other webhooks of the tenant; does nothing when it is disabled. */
export async function disableAndTell(tx: Tx<DB>, uid: string, reason: string): Promise<void> {
  const disabled = await disableWebhook(tx, uid, reason);
  if (disabled === null) return;
  const { tenant, id, disabledAt } = disabled;
  await tellInTx(tx, tenant, [
    {
      id: `disabled ${uid} ${disabledAt}`,
      tenant,
      type: 'webhook.disabled',
      time: disabledAt,
      data: { webhook_id: id, reason, link: `/api/v3.1/webhooks/${id}` },
    },
  ]);
  await tellInterest(tx, tenant);
}

/** Tells executions whether the tenant has webhooks for events of executions, when that has changed. */
export async function tellInterest(tx: Tx<DB>, tenant: string): Promise<void> {
  await lockInterest(tx, tenant);
  const webhooks = await enabledWebhooks(tx, tenant);
  const isListening = webhooks.some(({ events }) => listensToExecutions(events));
  const version = await setInterest(tx, tenant, isListening);
  if (version === null) return;
  await outbox.append(tx, webhookInterestChanged, { tenant, key: tenant }, { isListening, version });
}

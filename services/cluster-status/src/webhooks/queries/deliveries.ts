import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { isUuid, notFound } from '@baton/kernel';
import { type Db, selectPage, type Tx } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { DB } from '../../store/tables.gen';

const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`d.id`,
  webhook_id: sql`w.id`,
  event: sql`d.event`,
  state: sql`d.state`,
  attempts: sql`d.attempts`,
  last_status: sql`d.last_status`,
  error: sql`d.error`,
  answer: sql`d.answer`,
  next_attempt_at: sql`case when d.state = 'pending' then d.next_attempt_at end`,
  give_up_at: sql`d.give_up_at`,
  created_at: sql`d.created_at`,
  ended_at: sql`d.ended_at`,
  tenant_name: sql`d.tenant`,
};
const FROM = sql`webhook_deliveries d join webhooks w on w.uid = d.webhook`;

export function listDeliveries(
  db: Db<DB>['query'],
  { tenant }: Principal,
  webhookId: string,
  list: ListQuery,
): Promise<ListPage<Record<string, unknown>>> {
  return selectPage<Record<string, unknown>>({
    db,
    from: FROM,
    columns,
    list,
    where: [sql`w.tenant = ${tenant} and w.id = ${webhookId}`],
    tieBreak: sql`d.created_at, d.id`,
    search: sql`d.event`,
  });
}

/** Returns one delivery of a webhook, without its payload. @throws AppError not_found_error */
export function findDelivery(
  db: Db<DB>['query'] | Tx<DB>,
  tenant: string,
  webhookId: string,
  id: string,
): Promise<Record<string, unknown>> {
  return find(db, columns, { tenant, webhookId, id });
}

/** The same with the body that is sent. */
export function findDeliveryWithPayload(
  db: Db<DB>['query'],
  tenant: string,
  webhookId: string,
  id: string,
): Promise<Record<string, unknown>> {
  const all = { ...columns, payload: sql`d.payload`, content_type: sql`d.content_type` };
  return find(db, all, { tenant, webhookId, id });
}

async function find(
  db: Db<DB>['query'] | Tx<DB>,
  shown: Record<string, RawBuilder<unknown>>,
  of: { tenant: string; webhookId: string; id: string },
): Promise<Record<string, unknown>> {
  if (!isUuid(of.id)) throw notFound('WebhookDelivery', of.id);
  const fields = sql.join(Object.entries(shown).map(([name, column]) => sql`${column} as ${sql.id(name)}`));
  const { rows } = await sql<Record<string, unknown>>`
    select ${fields} from ${FROM} where w.tenant = ${of.tenant} and w.id = ${of.webhookId} and d.id = ${of.id}`.execute(
    db,
  );
  if (!rows[0]) throw notFound('WebhookDelivery', of.id);
  return rows[0];
}

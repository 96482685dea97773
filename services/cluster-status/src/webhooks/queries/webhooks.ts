import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { type Db, selectPage } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { DB } from '../../store/tables.gen';

const latestDelivery = (column: RawBuilder<unknown>) =>
  sql`(select ${column} from webhook_deliveries d where d.webhook = w.uid order by d.created_at desc limit 1)`;
const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`w.id`,
  url: sql`w.url`,
  events: sql`w.events`,
  filter: sql`w.filter`,
  format: sql`w.format`,
  template: sql`w.template`,
  max_attempts: sql`w.max_attempts`,
  order_by: sql`w.order_by`,
  header_names: sql`w.header_names`,
  is_enabled: sql`w.is_enabled`,
  disabled_reason: sql`w.disabled_reason`,
  disabled_at: sql`w.disabled_at`,
  former_key_until: sql`w.former_key_until`,
  last_delivery_state: latestDelivery(sql`d.state`),
  last_delivery_at: latestDelivery(sql`d.created_at`),
  created_at: sql`w.created_at`,
  updated_at: sql`w.updated_at`,
  created_by: sql`w.created_by`,
  tenant_name: sql`w.tenant`,
};

/** Webhooks belong to their tenant: whoever may list them sees all of them. */
export function listWebhooks(
  db: Db<DB>['query'],
  { tenant }: Principal,
  list: ListQuery,
): Promise<ListPage<Record<string, unknown>>> {
  return selectPage<Record<string, unknown>>({
    db,
    from: sql`webhooks w`,
    columns,
    list,
    where: [sql`w.tenant = ${tenant}`],
    tieBreak: sql`w.created_at, w.id`,
    search: sql`w.id`,
  });
}

/** Returns a webhook as clients see it, without its secrets. @throws AppError not_found_error */
export async function shownWebhook(
  db: Db<DB>['query'],
  { tenant }: Principal,
  id: string,
): Promise<Record<string, unknown>> {
  const fields = sql.join(Object.entries(columns).map(([name, column]) => sql`${column} as ${sql.id(name)}`));
  const { rows } = await sql<Record<string, unknown>>`
    select ${fields} from webhooks w where w.tenant = ${tenant} and w.id = ${id}`.execute(db);
  if (!rows[0]) throw notFound('Webhook', id);
  return rows[0];
}

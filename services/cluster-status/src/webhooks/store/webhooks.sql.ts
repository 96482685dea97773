import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import { model } from '../../store/model';
import type { DB } from '../../store/tables.gen';
import type { Subscription } from '../domain/event';

type Reader = Db<DB>['query'] | Tx<DB>;

export interface WebhookRow extends Subscription {
  tenant: string;
  id: string;
  uid: string;
  url: string;
  host: string;
  max_attempts: number;
  header_names: string[];
  is_enabled: boolean;
  sealed: Buffer;
  version: number;
}
export type NewWebhook = Omit<WebhookRow, 'version'> & { created_by: string };

/** Inserts a webhook. @throws a unique violation when the id is taken. */
export async function insertWebhook(tx: Tx<DB>, { filter, sealed, ...row }: NewWebhook): Promise<void> {
  const data = {
    ...row,
    events: [...row.events],
    filter: (filter as object | null) ?? undefined,
    sealed: new Uint8Array(sealed),
  };
  await model.over(tx, (p) => p.webhook.create({ data }));
}

export async function countWebhooks(tx: Tx<DB>, tenant: string): Promise<number> {
  return model.over(tx, (p) => p.webhook.count({ where: { tenant } }));
}

/** Deletes a webhook with its deliveries; false when there is none. */
export async function deleteWebhook(tx: Tx<DB>, of: { tenant: string; id: string }): Promise<boolean> {
  const { count } = await model.over(tx, (p) => p.webhook.deleteMany({ where: of }));
  return count > 0;
}

const COLUMNS =
  sql.raw(`tenant, id, uid, url, host, events, filter, format, template, max_attempts, order_by, header_names,
  is_enabled, sealed, version`);

export async function findWebhook(
  reader: Reader,
  of: { tenant: string; id: string },
): Promise<WebhookRow | null> {
  const { rows } =
    await sql<WebhookRow>`select ${COLUMNS} from webhooks where tenant = ${of.tenant} and id = ${of.id}`.execute(
      reader,
    );
  return rows[0] ?? null;
}

/** The enabled webhooks of a tenant, in the order of their ids. */
export async function enabledWebhooks(reader: Reader, tenant: string): Promise<WebhookRow[]> {
  const { rows } = await sql<WebhookRow>`
    select ${COLUMNS} from webhooks where tenant = ${tenant} and is_enabled order by id`.execute(reader);
  return rows;
}

export async function hasWebhooks(reader: Reader, tenant: string): Promise<boolean> {
  const { rows } = await sql`select from webhooks where tenant = ${tenant} and is_enabled limit 1`.execute(
    reader,
  );
  return rows.length > 0;
}

/** Writes all columns of a webhook that requests change; false when it was changed since it was read, or deleted. */
export async function updateWebhook(tx: Tx<DB>, row: WebhookRow): Promise<boolean> {
  const done =
    await sql`update webhooks set url = ${row.url}, host = ${row.host}, events = ${row.events as string[]}::text[],
      filter = ${row.filter === null ? null : JSON.stringify(row.filter)}::jsonb, format = ${row.format},
      template = ${row.template}, max_attempts = ${row.max_attempts}, order_by = ${row.order_by},
      header_names = ${row.header_names}::text[], is_enabled = ${row.is_enabled}, sealed = ${row.sealed},
      disabled_reason = case when ${row.is_enabled} then null else disabled_reason end,
      disabled_at = case when ${row.is_enabled} then null else coalesce(disabled_at, app_now()) end,
      version = version + 1, updated_at = app_now()
    where uid = ${row.uid} and version = ${row.version}`.execute(tx);
  return done.numAffectedRows === 1n;
}

/** Writes new signing keys; false when the webhook was changed since it was read, or deleted. */
export async function writeKeys(
  tx: Tx<DB>,
  { uid, version, sealed }: Pick<WebhookRow, 'uid' | 'version' | 'sealed'>,
  formerUntilMs: number | null,
): Promise<boolean> {
  const done =
    await sql`update webhooks set sealed = ${sealed}, version = version + 1, updated_at = app_now(),
      former_key_until = to_timestamp(${formerUntilMs}::float8 / 1000)
    where uid = ${uid} and version = ${version}`.execute(tx);
  return done.numAffectedRows === 1n;
}

/** Disables a webhook; null when it was disabled already, or is gone. */
export async function disableWebhook(
  tx: Tx<DB>,
  uid: string,
  reason: string,
): Promise<{ tenant: string; id: string; disabledAt: string } | null> {
  const { rows } = await sql<{ tenant: string; id: string; disabledAt: string }>`
    update webhooks set is_enabled = false, disabled_reason = ${reason}, disabled_at = app_now()
    where uid = ${uid} and is_enabled returning tenant, id, disabled_at as "disabledAt"`.execute(tx);
  return rows[0] ?? null;
}

/** Serializes changes of what a tenant listens to, until the end of the transaction. */
export async function lockInterest(tx: Tx<DB>, tenant: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('webhook-interest'), hashtext(${tenant}))`.execute(tx);
}

/** Stores whether the tenant listens; returns the new version, or null when nothing has changed. */
export async function setInterest(tx: Tx<DB>, tenant: string, isListening: boolean): Promise<number | null> {
  const { rows } = await sql<{ version: number }>`
    insert into webhook_interests as i (tenant, is_listening, version)
    select ${tenant}, ${isListening}, 1
    where ${isListening} or exists (select from webhook_interests where tenant = ${tenant})
    on conflict (tenant) do update set is_listening = excluded.is_listening, version = i.version + 1
    where i.is_listening <> excluded.is_listening returning version::float8 as version`.execute(tx);
  return rows[0]?.version ?? null;
}

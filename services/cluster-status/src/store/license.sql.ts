import { type Db, jsonb, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { License } from '../adapters/license-file';
import { model } from './model';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

export interface LicenseItem {
  id: string;
  customer_id: string;
  expiration_date: string | null;
  license_edition: string | null;
  trial: boolean;
  cloudify_version: string | null;
  capabilities: string[] | null;
  expired: boolean;
}

export async function readLicenseItem(reader: Reader): Promise<LicenseItem | null> {
  const { rows } = await sql<LicenseItem>`
    select id, customer_id, expiration_date, license_edition, trial, cloudify_version, capabilities,
      coalesce(expiration_date <= app_now(), false) as expired
    from license`.execute(reader);
  return rows[0] ?? null;
}

/** Stores the license. Only one license exists: a new one replaces the old one. */
export async function replaceLicense(tx: Tx<DB>, id: string, license: License): Promise<void> {
  const { expiration, capabilities } = license;
  const expires =
    expiration === null
      ? sql`null::timestamptz`
      : 'date' in expiration
        ? sql`${expiration.date}::timestamptz`
        : sql`app_now() + make_interval(days => ${expiration.days})`;
  await sql`
    insert into license (id, customer_id, expiration_date, license_edition, trial, cloudify_version, capabilities)
    values (${id}, ${license.customerId}, ${expires}, ${license.edition}, ${license.isTrial}, ${license.maxVersion},
      ${capabilities === null ? null : jsonb(capabilities)})
    on conflict (is_only) do update set id = excluded.id, customer_id = excluded.customer_id,
      expiration_date = excluded.expiration_date, license_edition = excluded.license_edition, trial = excluded.trial,
      cloudify_version = excluded.cloudify_version, capabilities = excluded.capabilities, uploaded_at = app_now()`.execute(
    tx,
  );
}

/** Stores a customer id without a license; false when a license or a customer id exists already. */
export async function insertCustomer(tx: Tx<DB>, id: string, customerId: string): Promise<boolean> {
  const data = { id, customer_id: customerId };
  const { count } = await model.over(tx, (p) => p.license.createMany({ data, skipDuplicates: true }));
  return count > 0;
}

export async function deleteLicense(tx: Tx<DB>): Promise<boolean> {
  const { count } = await model.over(tx, (p) => p.license.deleteMany());
  return count > 0;
}

import type { Visibility } from '@baton/contracts';
import { type Tx, type Viewer, visibleTo } from '@baton/postgres';
import { sql } from 'kysely';
import type { SealedValue } from '../domain/envelope';
import type { Reader } from './secrets.sql';
import type { DB } from './tables.gen';

export interface ProviderRow {
  tenant: string;
  name: string;
  type: 'local' | 'vault' | 'cloudify';
  created_by: string;
  visibility: Visibility;
  created_at: string;
  updated_at: string;
  ciphertext: Buffer;
  wrapped_key: Buffer;
  master_key_id: string;
  version: number;
}

/**
 * Takes the lock for a name. Names are unique within a tenant and against global ones: a transaction that adds a provider or
 * widens its visibility holds this lock.
 */
export async function lockProviderName(tx: Tx<DB>, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`provider ${name}`}, 0))`.execute(tx);
}

/** Returns all providers with that name, of all tenants. */
export async function findProvidersByName(db: Reader, name: string): Promise<ProviderRow[]> {
  const { rows } = await sql<ProviderRow>`select * from secrets_providers where name = ${name}`.execute(db);
  return rows;
}

/** Returns the provider of this tenant; null when there is none. */
export async function findProvider(db: Reader, tenant: string, name: string): Promise<ProviderRow | null> {
  const { rows } = await sql<ProviderRow>`
    select * from secrets_providers where tenant = ${tenant} and name = ${name}`.execute(db);
  return rows[0] ?? null;
}

/** Returns the provider that `who` sees under that name: one of the own tenant before a global one. */
export async function findVisibleProvider(
  db: Reader,
  who: Viewer,
  name: string,
): Promise<ProviderRow | null> {
  const { rows } = await sql<ProviderRow>`
    select * from secrets_providers where name = ${name} and ${visibleTo(who)}
    order by tenant = ${who.tenant} desc limit 1`.execute(db);
  return rows[0] ?? null;
}

export interface NewProvider {
  tenant: string;
  name: string;
  type: ProviderRow['type'];
  created_by: string;
  /** Null: now. */
  created_at: string | null;
  visibility: Visibility;
  version: number;
  sealed: SealedValue;
}

export async function insertProvider(
  tx: Tx<DB>,
  { sealed, created_at, ...plain }: NewProvider,
): Promise<void> {
  await tx
    .insertInto('secrets_providers')
    .values({
      ...plain,
      ...(created_at === null ? {} : { created_at }),
      ciphertext: sealed.ciphertext,
      wrapped_key: sealed.wrappedKey,
      master_key_id: sealed.masterKeyId,
    })
    .execute();
}

export async function updateProvider(
  tx: Tx<DB>,
  { tenant, name }: { tenant: string; name: string },
  change: { type: ProviderRow['type']; visibility: Visibility; sealed: SealedValue; version: number },
): Promise<void> {
  const { type, visibility, sealed, version } = change;
  await sql`
    update secrets_providers set type = ${type}, visibility = ${visibility}, ciphertext = ${sealed.ciphertext},
      wrapped_key = ${sealed.wrappedKey}, master_key_id = ${sealed.masterKeyId}, version = ${version}, updated_at = app_now()
    where tenant = ${tenant} and name = ${name}`.execute(tx);
}

/** Deletes a provider. The database refuses it while a secret of any tenant refers to the provider (`secrets_provider`). */
export async function deleteProvider(tx: Tx<DB>, tenant: string, name: string): Promise<void> {
  await tx.deleteFrom('secrets_providers').where('tenant', '=', tenant).where('name', '=', name).execute();
}

/**
 * Returns whether a secret of any tenant refers to the provider. Must be called outside of a request, because a request sees only
 * its tenant.
 */
export async function isProviderUsed(db: Reader, tenant: string, name: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from secrets where provider_tenant = ${tenant} and provider_name = ${name} limit 1`.execute(db);
  return rows.length > 0;
}

import type { Visibility } from '@baton/contracts';
import type { JsonObject } from '@baton/kernel';
import { type Db, type Tx, type Viewer, visibleTo } from '@baton/postgres';
import { sql } from 'kysely';
import type { SealedValue } from '../domain/envelope';
import type { DB } from './tables.gen';

export type Reader = Db<DB>['query'] | Tx<DB>;

export interface SecretRow {
  tenant: string;
  key: string;
  created_by: string;
  visibility: Visibility;
  is_hidden_value: boolean;
  created_at: string;
  updated_at: string;
  schema: JsonObject | null;
  ciphertext: Buffer;
  wrapped_key: Buffer;
  master_key_id: string;
  version: number;
  /** Provider that has the value; both null: this service. */
  provider_tenant: string | null;
  provider_name: string | null;
}

/** The tenant and name by which a secret refers to a provider. */
export interface ProviderKey {
  tenant: string;
  name: string;
}

export const sealedOf = (row: SecretRow): SealedValue => ({
  ciphertext: row.ciphertext,
  wrappedKey: row.wrapped_key,
  masterKeyId: row.master_key_id,
});

/**
 * Takes the lock for a key. Keys are unique within a tenant and against global ones: a transaction that adds a secret or widens
 * its visibility holds this lock.
 */
export async function lockSecretKey(tx: Tx<DB>, key: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`secret ${key}`}, 0))`.execute(tx);
}

/** Returns all secrets with that key, of all tenants. */
export async function findByKey(db: Reader, key: string): Promise<SecretRow[]> {
  return (await db
    .selectFrom('secrets')
    .selectAll()
    .where('key', '=', key)
    .execute()) as unknown as SecretRow[];
}

/** Returns the secrets with these keys that `who` may see; of equal keys, the one of the own tenant comes first. */
export async function findVisible(db: Reader, who: Viewer, keys: readonly string[]): Promise<SecretRow[]> {
  const { rows } = await sql<SecretRow>`
    select * from secrets where key = any(${[...keys]}::text[]) and ${visibleTo(who)}
    order by tenant = ${who.tenant} desc`.execute(db);
  return rows;
}

export interface NewSecret {
  tenant: string;
  key: string;
  created_by: string;
  /** Null: now. */
  created_at: string | null;
  visibility: Visibility;
  is_hidden_value: boolean;
  schema: JsonObject | null;
  version: number;
  sealed: SealedValue;
  provider: ProviderKey | null;
}

export async function insertSecret(
  tx: Tx<DB>,
  { sealed, schema, provider, created_at, ...plain }: NewSecret,
): Promise<void> {
  await tx
    .insertInto('secrets')
    .values({
      ...plain,
      ...(created_at === null ? {} : { created_at }),
      schema: schema === null ? null : JSON.stringify(schema),
      ciphertext: sealed.ciphertext,
      wrapped_key: sealed.wrappedKey,
      master_key_id: sealed.masterKeyId,
      provider_tenant: provider?.tenant ?? null,
      provider_name: provider?.name ?? null,
    })
    .execute();
}

export interface SecretChanges {
  created_at?: string;
  created_by?: string;
  visibility?: Visibility;
  is_hidden_value?: boolean;
  value?: { sealed: SealedValue; version: number; provider: ProviderKey | null };
}

export async function updateSecret(
  tx: Tx<DB>,
  tenant: string,
  key: string,
  { value, ...plain }: SecretChanges,
): Promise<void> {
  const sealed = value && {
    ciphertext: value.sealed.ciphertext,
    wrapped_key: value.sealed.wrappedKey,
    master_key_id: value.sealed.masterKeyId,
    version: value.version,
    provider_tenant: value.provider?.tenant ?? null,
    provider_name: value.provider?.name ?? null,
  };
  await tx
    .updateTable('secrets')
    .set({ ...plain, ...(sealed ?? {}), updated_at: sql<string>`app_now()` })
    .where('tenant', '=', tenant)
    .where('key', '=', key)
    .execute();
}

export async function deleteSecret(tx: Tx<DB>, tenant: string, key: string): Promise<void> {
  await tx.deleteFrom('secrets').where('tenant', '=', tenant).where('key', '=', key).execute();
}

import type { Visibility } from '@baton/contracts';
import type { JsonObject } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
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
}

export const sealedOf = (row: SecretRow): SealedValue => ({
  ciphertext: row.ciphertext,
  wrappedKey: row.wrapped_key,
  masterKeyId: row.master_key_id,
});

/** Keys are unique within a tenant and against global ones: whoever adds or widens a key holds this lock. */
export async function lockSecretKey(tx: Tx<DB>, key: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`secret ${key}`}, 0))`.execute(tx);
}

/** All secrets of that key, in whatever tenant. */
export async function findByKey(db: Reader, key: string): Promise<SecretRow[]> {
  return (await db
    .selectFrom('secrets')
    .selectAll()
    .where('key', '=', key)
    .execute()) as unknown as SecretRow[];
}

interface Who {
  tenant: string;
  username: string;
  isAdministrator: boolean;
}

/** The named secrets that `who` may see; of equal keys the own tenant's comes first. */
export async function findVisible(db: Reader, who: Who, keys: readonly string[]): Promise<SecretRow[]> {
  const { rows } = await sql<SecretRow>`
    select * from secrets where key = any(${[...keys]}::text[]) and (visibility = 'global'
      or (tenant = ${who.tenant} and (visibility = 'tenant' or created_by = ${who.username} or ${who.isAdministrator})))
    order by tenant = ${who.tenant} desc`.execute(db);
  return rows;
}

export interface NewSecret {
  tenant: string;
  key: string;
  created_by: string;
  visibility: Visibility;
  is_hidden_value: boolean;
  schema: JsonObject | null;
  version: number;
  sealed: SealedValue;
}

export async function insertSecret(tx: Tx<DB>, { sealed, schema, ...plain }: NewSecret): Promise<void> {
  await tx
    .insertInto('secrets')
    .values({
      ...plain,
      schema: schema === null ? null : JSON.stringify(schema),
      ciphertext: sealed.ciphertext,
      wrapped_key: sealed.wrappedKey,
      master_key_id: sealed.masterKeyId,
    })
    .execute();
}

export interface SecretChanges {
  visibility?: Visibility;
  is_hidden_value?: boolean;
  value?: { sealed: SealedValue; version: number };
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

/** Secrets under another master key than `currentId`, locked; at most `limit`. */
export async function lockUnderOldKeys(
  tx: Tx<DB>,
  currentId: string,
  knownIds: readonly string[],
  limit: number,
): Promise<SecretRow[]> {
  const { rows } = await sql<SecretRow>`
    select * from secrets where master_key_id <> ${currentId} and master_key_id = any(${[...knownIds]}::text[])
    limit ${limit} for update skip locked`.execute(tx);
  return rows;
}

export async function setWrappedKey(
  tx: Tx<DB>,
  row: SecretRow,
  wrapped: Pick<SealedValue, 'wrappedKey' | 'masterKeyId'>,
): Promise<void> {
  await tx
    .updateTable('secrets')
    .set({ wrapped_key: wrapped.wrappedKey, master_key_id: wrapped.masterKeyId })
    .where('tenant', '=', row.tenant)
    .where('key', '=', row.key)
    .execute();
}

/** Ids of master keys in use that are not among `knownIds`. */
export async function findUnknownMasterKeys(db: Reader, knownIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('secrets')
    .select('master_key_id')
    .distinct()
    .where('master_key_id', 'not in', [...knownIds])
    .execute();
  return rows.map((r) => r.master_key_id);
}

/** Rows sealed under master keys: values of secrets, connection parameters of providers. */
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { SealedValue, ValueIdentity } from '../domain/envelope';
import type { DB } from './tables.gen';

const KINDS = {
  secrets: { table: sql.table('secrets'), name: sql.ref('key'), prefix: '' },
  secrets_providers: { table: sql.table('secrets_providers'), name: sql.ref('name'), prefix: 'provider ' },
} as const;
export type SealedKind = keyof typeof KINDS;
export const sealedKinds = Object.keys(KINDS) as SealedKind[];

export interface SealedRow {
  identity: ValueIdentity;
  name: string;
  sealed: SealedValue;
}

/** Returns rows sealed under another known master key than `currentId`, locked; at most `limit`. */
export async function lockUnderOldKeys(
  tx: Tx<DB>,
  kind: SealedKind,
  keys: { currentId: string; knownIds: readonly string[] },
  limit: number,
): Promise<SealedRow[]> {
  const { table, name, prefix } = KINDS[kind];
  const { rows } = await sql<{
    tenant: string;
    name: string;
    version: number;
    ciphertext: Buffer;
    wrapped_key: Buffer;
    master_key_id: string;
  }>`
    select tenant, ${name} as name, version, ciphertext, wrapped_key, master_key_id from ${table}
    where master_key_id <> ${keys.currentId} and master_key_id = any(${[...keys.knownIds]}::text[])
    limit ${limit} for update skip locked`.execute(tx);
  return rows.map((row) => ({
    identity: { tenant: row.tenant, key: `${prefix}${row.name}`, version: row.version },
    name: row.name,
    sealed: { ciphertext: row.ciphertext, wrappedKey: row.wrapped_key, masterKeyId: row.master_key_id },
  }));
}

export async function setWrappedKey(
  tx: Tx<DB>,
  kind: SealedKind,
  row: SealedRow,
  wrapped: Pick<SealedValue, 'wrappedKey' | 'masterKeyId'>,
): Promise<void> {
  const { table, name } = KINDS[kind];
  await sql`
    update ${table} set wrapped_key = ${wrapped.wrappedKey}, master_key_id = ${wrapped.masterKeyId}
    where tenant = ${row.identity.tenant} and ${name} = ${row.name}`.execute(tx);
}

/** Returns ids of master keys in use that are not among `knownIds`. */
export async function findUnknownMasterKeys(
  db: Db<DB>['query'],
  knownIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from (select master_key_id as id from secrets union select master_key_id from secrets_providers) used
    where id <> all(${[...knownIds]}::text[])`.execute(db);
  return rows.map((row) => row.id);
}

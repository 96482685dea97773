import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;
export type KeyState = 'trusted' | 'revoked';

/** Every change of the keys of a tenant, and every upload of a signed plugin, holds this lock: the state of a plugin follows the keys. */
export async function lockKeys(tx: Tx<DB>, tenant: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`plugin keys ${tenant}`}, 0))`.execute(tx);
}

export async function findKey(
  db: Reader,
  tenant: string,
  by: { name: string } | { fingerprint: string },
): Promise<{ name: string; state: string; fingerprint: string } | null> {
  const [column, value] =
    'name' in by ? (['name', by.name] as const) : (['fingerprint', by.fingerprint] as const);
  const row = await db
    .selectFrom('plugin_keys')
    .select(['name', 'state', 'fingerprint'])
    .where('tenant', '=', tenant)
    .where(column, '=', value)
    .executeTakeFirst();
  return row ?? null;
}

export async function insertKey(
  tx: Tx<DB>,
  key: { tenant: string; name: string; public_key: string; fingerprint: string; by: string },
): Promise<void> {
  const { by, ...values } = key;
  await tx
    .insertInto('plugin_keys')
    .values({ ...values, created_by: by, changed_by: by })
    .execute();
}

export async function setKeyState(
  tx: Tx<DB>,
  { tenant, name, state, by }: { tenant: string; name: string; state: KeyState; by: string },
): Promise<void> {
  await tx
    .updateTable('plugin_keys')
    .set({ state, changed_by: by, changed_at: sql<string>`app_now()` })
    .where('tenant', '=', tenant)
    .where('name', '=', name)
    .where('state', '<>', state)
    .execute();
}

export async function removeKey(tx: Tx<DB>, tenant: string, name: string): Promise<void> {
  await tx.deleteFrom('plugin_keys').where('tenant', '=', tenant).where('name', '=', name).execute();
}

/** Brings the plugins that the key has signed up to date. `name`: null when the key is not known any more. */
export async function markSigned(
  tx: Tx<DB>,
  tenant: string,
  fingerprint: string,
  { name, state }: { name: string | null; state: KeyState | 'unknown' },
): Promise<void> {
  await tx
    .updateTable('plugins')
    .set({ signer_state: state, signer_name: name })
    .where('tenant', '=', tenant)
    .where('signer_fingerprint', '=', fingerprint)
    .execute();
}

/** Null: the tenant has not decided. */
export async function findRequirement(db: Reader, tenant: string): Promise<boolean | null> {
  const row = await db
    .selectFrom('plugin_trust')
    .select('requires_signature')
    .where('tenant', '=', tenant)
    .executeTakeFirst();
  return row?.requires_signature ?? null;
}

export async function putRequirement(
  tx: Tx<DB>,
  tenant: string,
  requiresSignature: boolean,
  by: string,
): Promise<void> {
  const values = { requires_signature: requiresSignature, changed_by: by };
  await tx
    .insertInto('plugin_trust')
    .values({ tenant, ...values })
    .onConflict((c) => c.column('tenant').doUpdateSet({ ...values, changed_at: sql<string>`app_now()` }))
    .execute();
}

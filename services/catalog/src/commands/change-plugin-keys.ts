/** Keys whose signatures of plugins a tenant trusts, and whether it asks for them (docs/plugin-signatures.md). */
import type { Principal } from '@baton/contracts';
import { AppError, notFound } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { readPublicKey } from '../domain/plugin-signature';
import {
  findKey,
  insertKey,
  type KeyState,
  lockKeys,
  markSigned,
  putRequirement,
  removeKey,
  setKeyState,
} from '../store/plugin-keys.sql';
import type { DB } from '../store/tables.gen';

type Deps = { db: Db<DB> };

/** @throws AppError bad_parameters_error for something that is no key; conflict_error when name or key are there already */
export async function trustKey({ db }: Deps, principal: Principal, name: string, pem: string): Promise<void> {
  const { pem: public_key, fingerprint } = readPublicKey(pem);
  const { tenant, username: by } = principal;
  await db.tx(async (tx) => {
    await lockKeys(tx, tenant);
    const rival = (await findKey(tx, tenant, { fingerprint })) ?? (await findKey(tx, tenant, { name }));
    if (rival)
      throw new AppError(
        'conflict_error',
        rival.fingerprint === fingerprint
          ? `the key ${fingerprint} is there already, as \`${rival.name}\` (${rival.state})`
          : `a key \`${name}\` exists already, with the fingerprint ${rival.fingerprint}`,
        { field: rival.fingerprint === fingerprint ? 'public_key' : 'name' },
      );
    await insertKey(tx, { tenant, name, public_key, fingerprint, by });
    await markSigned(tx, tenant, fingerprint, { name, state: 'trusted' });
  });
}

/** @throws AppError not_found_error */
export async function changeKey(
  { db }: Deps,
  principal: Principal,
  name: string,
  state: KeyState,
): Promise<void> {
  const { tenant, username: by } = principal;
  await onKey(db, tenant, name, async (tx, fingerprint) => {
    await setKeyState(tx, { tenant, name, state, by });
    await markSigned(tx, tenant, fingerprint, { name, state });
  });
}

/**
 * A revoked key stays: without it nothing would say that its plugins must not run.
 * @throws AppError not_found_error; illegal_action_error for a revoked key
 */
export async function forgetKey({ db }: Deps, principal: Principal, name: string): Promise<void> {
  const { tenant } = principal;
  await onKey(db, tenant, name, async (tx, fingerprint, state) => {
    if (state === 'revoked')
      throw new AppError(
        'illegal_action_error',
        `the key \`${name}\` is revoked: without it, what it has signed would run again`,
        { field: 'name', expected: 'a key that is not revoked' },
      );
    await removeKey(tx, tenant, name);
    await markSigned(tx, tenant, fingerprint, { name: null, state: 'unknown' });
  });
}

async function onKey(
  db: Db<DB>,
  tenant: string,
  name: string,
  work: (tx: Tx<DB>, fingerprint: string, state: string) => Promise<void>,
): Promise<void> {
  await db.tx(async (tx) => {
    await lockKeys(tx, tenant);
    const key = await findKey(tx, tenant, { name });
    if (key === null) throw notFound('Plugin key', name);
    await work(tx, key.fingerprint, key.state);
  });
}

export async function requireSignatures(
  { db }: Deps,
  { tenant, username }: Principal,
  isRequired: boolean,
): Promise<void> {
  await db.tx((tx) => putRequirement(tx, tenant, isRequired, username));
}

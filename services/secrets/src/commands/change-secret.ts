/** Writing secrets (reference/rest-api.md 5.23). Values arrive as Secret and leave sealed; nothing here logs one. */
import {
  type Principal,
  requireOwnTenant,
  type Visibility,
  visibilityOfNew,
  widensVisibility,
} from '@baton/contracts';
import { AppError, type JsonObject, notFound } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { storedText } from '../adapters/secret-value';
import { type MasterKey, sealValue } from '../domain/envelope';
import { mayOverwrite, requireHidingRight, requireValueAccess, whoOf } from '../domain/secret-access';
import { visibleSecret } from '../queries/read-secrets';
import {
  deleteSecret,
  findByKey,
  insertSecret,
  lockSecretKey,
  type SecretRow,
  updateSecret,
} from '../store/secrets.sql';
import type { DB } from '../store/tables.gen';

export interface SecretDeps {
  db: Db<DB>;
  /** The current one first. */
  masters: readonly MasterKey[];
}

export interface PutSecret {
  value?: unknown;
  schema?: JsonObject | null;
  update_if_exists: boolean;
  visibility?: Visibility;
  private_resource?: boolean;
  is_hidden_value?: boolean;
  provider_name?: string | null;
}

function refuseProvider(name: string | null | undefined): void {
  if (name !== undefined && name !== null) throw notFound('Secrets provider', name);
}

function taken(key: string): AppError {
  return new AppError('conflict_error', `Secret with key \`${key}\` already exists`, {
    key,
    expected: 'update_if_exists: true',
  });
}

function sealNext(deps: SecretDeps, row: SecretRow, value: unknown) {
  const version = row.version + 1;
  const identity = { tenant: row.tenant, key: row.key, version };
  return { version, sealed: sealValue(deps.masters[0]!, identity, storedText(value, row.schema)) };
}

/** Creates the secret; with `update_if_exists` an existing one gets the value and keeps its other attributes. */
export async function putSecret(
  deps: SecretDeps,
  principal: Principal,
  key: string,
  body: PutSecret,
): Promise<void> {
  refuseProvider(body.provider_name);
  const visibility = visibilityOfNew(principal, body.visibility, body.private_resource);
  const schema = body.schema ?? null;
  const value = storedText(body.value, schema);
  await deps.db.tx(async (tx) => {
    await lockSecretKey(tx, key);
    const rivals = await findByKey(tx, key);
    const own = rivals.find((r) => r.tenant === principal.tenant);
    if (own !== undefined && body.update_if_exists) {
      requireValueAccess(principal, own);
      // Private secrets of others are not there for this user, not even to be overwritten.
      if (!mayOverwrite(whoOf(principal), own)) throw taken(key);
      await updateSecret(tx, own.tenant, key, { value: sealNext(deps, own, body.value) });
      return;
    }
    if (own !== undefined || rivals.some((r) => r.visibility === 'global' || visibility === 'global'))
      throw taken(key);
    const identity = { tenant: principal.tenant, key, version: 1 };
    await insertSecret(tx, {
      ...identity,
      created_by: principal.username,
      visibility,
      is_hidden_value: body.is_hidden_value ?? false,
      schema,
      sealed: sealValue(deps.masters[0]!, identity, value),
    });
  });
}

async function changeLocked(
  deps: SecretDeps,
  principal: Principal,
  key: string,
  change: (tx: Tx<DB>, row: SecretRow, rivals: SecretRow[]) => Promise<void>,
): Promise<void> {
  const seen = await visibleSecret(deps.db.query, principal, key);
  requireOwnTenant(principal, seen.tenant, `secret \`${key}\``);
  await deps.db.tx(async (tx) => {
    await lockSecretKey(tx, key);
    const all = await findByKey(tx, key);
    const row = all.find((r) => r.tenant === principal.tenant);
    if (row === undefined) throw notFound('Secret', key);
    requireValueAccess(principal, row);
    await change(
      tx,
      row,
      all.filter((r) => r !== row),
    );
  });
}

function widened(
  principal: Principal,
  row: SecretRow,
  wanted: Visibility | undefined,
  rivals: readonly SecretRow[],
): { visibility?: Visibility } {
  if (wanted === undefined || !widensVisibility(principal, row.visibility, wanted)) return {};
  if (wanted === 'global' && rivals.length > 0) {
    throw new AppError(
      'conflict_error',
      `secret \`${row.key}\` exists in another tenant and cannot become global`,
      { key: row.key },
    );
  }
  return { visibility: wanted };
}

export interface PatchSecret {
  value?: unknown;
  visibility?: Visibility;
  is_hidden_value?: boolean;
  provider_name?: string | null;
}

export async function patchSecret(
  deps: SecretDeps,
  principal: Principal,
  key: string,
  body: PatchSecret,
): Promise<void> {
  const { value, visibility, is_hidden_value, provider_name } = body;
  refuseProvider(provider_name);
  await changeLocked(deps, principal, key, async (tx, row, rivals) => {
    if (value === undefined && visibility === undefined && is_hidden_value === undefined) {
      throw new AppError('illegal_action_error', 'The body changes nothing', {
        expected: ['value', 'visibility', 'is_hidden_value'],
      });
    }
    if (is_hidden_value !== undefined && is_hidden_value !== row.is_hidden_value)
      requireHidingRight(principal, row);
    await updateSecret(tx, row.tenant, key, {
      ...widened(principal, row, visibility, rivals),
      ...(is_hidden_value === undefined ? {} : { is_hidden_value }),
      ...(value === undefined ? {} : { value: sealNext(deps, row, value) }),
    });
  });
}

export async function setSecretVisibility(
  deps: SecretDeps,
  principal: Principal,
  key: string,
  wanted: Visibility,
): Promise<void> {
  await changeLocked(deps, principal, key, async (tx, row, rivals) => {
    await updateSecret(tx, row.tenant, key, widened(principal, row, wanted, rivals));
  });
}

export async function removeSecret(deps: SecretDeps, principal: Principal, key: string): Promise<void> {
  await changeLocked(deps, principal, key, (tx, row) => deleteSecret(tx, row.tenant, key));
}

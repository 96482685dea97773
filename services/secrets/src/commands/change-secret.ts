/** Writes secrets (reference/rest-api.md 5.23). Values arrive as Secret and are stored sealed; no code here logs a value. */
import {
  changedOwnership,
  type FindUser,
  ownershipOf,
  type Principal,
  requireOwnTenant,
  type Visibility,
  visibilityOfNew,
  widensVisibility,
} from '@baton/contracts';
import { AppError, type JsonObject, notFound } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import { storedText } from '../adapters/secret-value';
import { sealValue } from '../domain/envelope';
import { type Kept, nextKept, type UsedProvider } from '../domain/kept-value';
import { mayOverwrite, requireHidingRight, requireValueAccess, whoOf } from '../domain/secret-access';
import { useOf, writeContent } from '../domain/secret-content';
import { visibleSecret } from '../queries/read-secrets';
import { openContent, type ValueDeps } from '../queries/read-value';
import { findProvider, findVisibleProvider } from '../store/providers.sql';
import {
  deleteSecret,
  findByKey,
  insertSecret,
  lockSecretKey,
  type SecretChanges,
  type SecretRow,
  updateSecret,
} from '../store/secrets.sql';
import type { DB } from '../store/tables.gen';

export interface SecretDeps extends ValueDeps {
  findUser: FindUser;
}

export interface PutSecret {
  value?: unknown;
  schema?: JsonObject | null;
  update_if_exists: boolean;
  visibility?: Visibility;
  private_resource?: boolean;
  is_hidden_value?: boolean;
  provider_name?: string | null;
  provider_options?: JsonObject | null;
  created_at?: string;
  created_by?: string;
}

/** Returns the provider that a request names; undefined when it names none. @throws AppError not_found_error */
async function namedProvider(
  tx: Tx<DB>,
  principal: Principal,
  name: string | null | undefined,
): Promise<UsedProvider | undefined> {
  if (name === undefined || name === null || name === '') return undefined;
  const provider = await findVisibleProvider(tx, whoOf(principal), name);
  if (provider === null) throw notFound('Secrets provider', name);
  return provider;
}

/** Returns the provider and the content of `row`. */
async function keptNow(deps: SecretDeps, tx: Tx<DB>, row: SecretRow): Promise<Kept> {
  const provider =
    row.provider_name === null ? null : await findProvider(tx, row.provider_tenant!, row.provider_name);
  return { provider, content: openContent(deps.masters, row) };
}

function taken(key: string): AppError {
  return new AppError('conflict_error', `Secret with key \`${key}\` already exists`, {
    key,
    expected: 'update_if_exists: true',
  });
}

function sealKept(
  deps: SecretDeps,
  identity: { tenant: string; key: string; version: number },
  { content, provider }: Kept,
): NonNullable<SecretChanges['value']> {
  const text = writeContent(content, provider !== null);
  const sealed = sealValue(deps.masters[0]!, identity, text, useOf(provider !== null));
  return { version: identity.version, sealed, provider };
}

const nextVersion = ({ tenant, key, version }: SecretRow) => ({ tenant, key, version: version + 1 });

/** Creates the secret. With `update_if_exists`, an existing secret gets the value and keeps its other attributes. */
export async function putSecret(
  deps: SecretDeps,
  principal: Principal,
  key: string,
  body: PutSecret,
): Promise<void> {
  const visibility = visibilityOfNew(principal, body.visibility, body.private_resource);
  const schema = body.schema ?? null;
  const owner = await ownershipOf(principal, body, deps.findUser);
  await deps.db.tx(async (tx) => {
    const provider = await namedProvider(tx, principal, body.provider_name);
    const change = { value: body.value, provider, options: body.provider_options };
    const kept = nextKept(null, change, (value) => storedText(value, schema));
    await lockSecretKey(tx, key);
    const rivals = await findByKey(tx, key);
    const own = rivals.find((r) => r.tenant === principal.tenant);
    if (own !== undefined && body.update_if_exists) {
      requireValueAccess(principal, own);
      // For this user, private secrets of others do not exist; the user may not overwrite them either.
      if (!mayOverwrite(whoOf(principal), own)) throw taken(key);
      const now = await keptNow(deps, tx, own);
      const next = nextKept(now, { value: body.value }, (value) => storedText(value, own.schema));
      await updateSecret(tx, own.tenant, key, { value: sealKept(deps, nextVersion(own), next) });
      return;
    }
    if (own !== undefined || rivals.some((r) => r.visibility === 'global' || visibility === 'global'))
      throw taken(key);
    const identity = { tenant: principal.tenant, key, version: 1 };
    await insertSecret(tx, {
      ...identity,
      created_by: owner.createdBy,
      created_at: owner.createdAt,
      visibility,
      is_hidden_value: body.is_hidden_value ?? false,
      schema,
      ...sealKept(deps, identity, kept),
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
  provider_options?: JsonObject | null;
  created_at?: string;
  creator?: string;
}

/**
 * PATCH /secrets/{key}. Unknown keys are ignored, as in every body of the original; only a body without keys is refused
 * (reference/rest-api.md 4.1, 5.23).
 */
export async function patchSecret(
  deps: SecretDeps,
  principal: Principal,
  key: string,
  body: PatchSecret,
): Promise<void> {
  const { value, visibility, is_hidden_value, provider_name, provider_options } = body;
  if (Object.keys(body).length === 0)
    throw new AppError('illegal_action_error', 'The body changes nothing', {
      expected: ['value', 'visibility', 'is_hidden_value', 'provider_name', 'provider_options'],
    });
  const owner = await changedOwnership(principal, body, deps.findUser);
  await changeLocked(deps, principal, key, async (tx, row, rivals) => {
    const provider = await namedProvider(tx, principal, provider_name);
    const isKeptAnew = value !== undefined || provider !== undefined || provider_options !== undefined;
    if (is_hidden_value !== undefined && is_hidden_value !== row.is_hidden_value)
      requireHidingRight(principal, row);
    const kept = isKeptAnew
      ? nextKept(await keptNow(deps, tx, row), { value, provider, options: provider_options }, (given) =>
          storedText(given, row.schema),
        )
      : null;
    await updateSecret(tx, row.tenant, key, {
      ...owner,
      ...widened(principal, row, visibility, rivals),
      ...(is_hidden_value === undefined ? {} : { is_hidden_value }),
      ...(kept === null ? {} : { value: sealKept(deps, nextVersion(row), kept) }),
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

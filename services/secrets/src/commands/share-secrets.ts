/** Export and import of secrets with their values (reference/rest-api.md 8.1). */
import {
  hasPermission,
  type ListQuery,
  type Ownership,
  type Principal,
  rememberingUsers,
  type Visibility,
} from '@baton/contracts';
import { resourceId, visibility as visibilityShape } from '@baton/contracts/http/shapes';
import { AppError, badParameter, type Clock, isJsonObject, Secret } from '@baton/kernel';
import { writingTo } from '@baton/postgres';
import { sealValue } from '../domain/envelope';
import {
  decryptWith,
  encryptWith,
  MIN_PASSPHRASE,
  type PassphraseKey,
  passphraseKey,
} from '../domain/passphrase';
import { mayOverwrite, maySeeValue, whoOf } from '../domain/secret-access';
import { type SecretContent, useOf, writeContent } from '../domain/secret-content';
import { listForExport } from '../queries/read-secrets';
import { openContent } from '../queries/read-value';
import { findVisibleProvider, type ProviderRow } from '../store/providers.sql';
import { findByKey, insertSecret, lockSecretKey, updateSecret } from '../store/secrets.sql';
import type { SecretDeps } from './change-secret';
import { importedOwnership } from './imported-ownership';

function requirePassphrase(passphrase: Secret | null): void {
  if (passphrase !== null && passphrase.expose().length < MIN_PASSPHRASE) {
    throw badParameter('passphrase', `the passphrase is shorter than ${MIN_PASSPHRASE} characters`, {
      expected: `at least ${MIN_PASSPHRASE} characters`,
    });
  }
}

/**
 * Returns the secrets that `principal` may see, with values. The value is empty when a provider has it; hidden secrets of others
 * are left out.
 */
export async function exportSecrets(
  deps: SecretDeps & { clock: Clock },
  principal: Principal,
  list: ListQuery,
  passphrase: Secret | null,
  hasMetadata: boolean,
): Promise<Record<string, unknown>[]> {
  requirePassphrase(passphrase);
  // Without the values there is nothing to encrypt.
  const hasValues = list.include === null || list.include.includes('value');
  const key = passphrase === null || !hasValues ? null : await passphraseKey(passphrase);
  const rows = (await listForExport(deps.db.query, principal, list)).filter((row) =>
    maySeeValue(whoOf(principal), row),
  );
  return rows.map((row) => {
    const content = openContent(deps.masters, row);
    const value = content.value ?? new Secret('');
    return {
      key: row.key,
      value: key === null ? value.expose() : encryptWith(key, value, deps.clock.now()),
      visibility: row.visibility,
      tenant_name: row.tenant,
      is_hidden_value: row.is_hidden_value,
      encrypted: key !== null,
      provider: row.provider_name,
      provider_options: content.options,
      ...(hasMetadata
        ? { creator: row.created_by, created_at: row.created_at, updated_at: row.updated_at }
        : {}),
    };
  });
}

export interface ImportRequest {
  items: unknown[];
  tenantMap: Record<string, string>;
  passphrase: Secret | null;
  isOverriding: boolean;
}

export interface ImportResult {
  colliding_secrets: Record<string, string[]>;
  secrets_errors: Record<string, Record<string, unknown>>;
}

interface Item {
  owner: Ownership;
  tenant: string;
  key: string;
  provider: ProviderRow | null;
  content: SecretContent;
  visibility: Visibility;
  isHidden: boolean;
}

const FIELDS = ['key', 'value', 'tenant_name', 'visibility', 'is_hidden_value', 'encrypted'];

/** Returns whether `principal` may create secrets in the tenant. */
function mayImportInto(principal: Principal, tenant: string): boolean {
  if (tenant === principal.tenant) return true;
  const membership = principal.tenants.find((t) => t.name === tenant);
  const isEverywhere = hasPermission(principal, 'all_tenants');
  return (
    membership !== undefined &&
    (isEverywhere || membership.roles.some((role) => role === 'manager' || role === 'user'))
  );
}

const isBlank = (given: unknown): boolean =>
  given === undefined || given === null || (typeof given === 'string' && given.trim() === '');

function faultsOf(
  raw: Record<string, unknown>,
  principal: Principal,
  tenant: string,
  hasPassphrase: boolean,
  provider: ProviderRow | null,
): Record<string, unknown> {
  const faults: Record<string, unknown> = {};
  const isKeptOutside = provider !== null && provider.type !== 'local';
  const missing = FIELDS.filter((f) => isBlank(raw[f]) && !(f === 'value' && isKeptOutside));
  if (missing.length > 0) faults['missing secret fields'] = missing;
  for (const flag of ['is_hidden_value', 'encrypted'] as const) {
    if (!missing.includes(flag) && typeof raw[flag] !== 'boolean')
      faults[flag] = `${flag} must be true or false`;
  }
  if (!missing.includes('key') && !resourceId.safeParse(raw.key).success)
    faults.key = 'the key is not a valid name';
  if (!missing.includes('value') && !isKeptOutside && typeof raw.value !== 'string')
    faults.value = 'the value must be a text';
  if (!missing.includes('visibility') && !visibilityShape.safeParse(raw.visibility).success) {
    faults.visibility = `visibility must be one of private, tenant, global`;
  }
  if (raw.visibility === 'global' && !hasPermission(principal, 'create_global_resource'))
    faults.visibility = 'global visibility is not permitted';
  if (!missing.includes('tenant_name') && !mayImportInto(principal, tenant))
    faults.tenant_name = 'the tenant does not exist';
  if (raw.encrypted === true && !hasPassphrase)
    faults['No passphrase'] = 'the secret is encrypted, a passphrase is needed';
  if (isNamed(raw.provider) && provider === null) faults.provider = 'there is no such secrets provider';
  return faults;
}

const isNamed = (provider: unknown): boolean =>
  provider !== undefined && provider !== null && provider !== '';

function readItem(
  raw: Record<string, unknown>,
  tenant: string,
  key: PassphraseKey | null,
  provider: ProviderRow | null,
  owner: Ownership,
): Item {
  const text = raw.value as string;
  const isKeptOutside = provider !== null && provider.type !== 'local';
  const value = raw.encrypted === true && !isKeptOutside ? decryptWith(key!, text) : new Secret(text);
  const options = isJsonObject(raw.provider_options) ? raw.provider_options : null;
  return {
    owner,
    tenant,
    key: raw.key as string,
    provider,
    content: { value: isKeptOutside ? null : value, options: provider === null ? null : options },
    visibility: raw.visibility as Visibility,
    isHidden: raw.is_hidden_value as boolean,
  };
}

/** Stores one item; returns true when the key existed before. Each item has its own transaction, because others may fail. */
async function importOne(
  deps: SecretDeps,
  principal: Principal,
  item: Item,
  isOverriding: boolean,
): Promise<boolean> {
  return writingTo(item.tenant, () =>
    deps.db.tx(async (tx) => {
      await lockSecretKey(tx, item.key);
      const all = await findByKey(tx, item.key);
      const own = all.find((r) => r.tenant === item.tenant);
      const text = writeContent(item.content, item.provider !== null);
      const use = useOf(item.provider !== null);
      if (own === undefined) {
        if (all.some((r) => r.visibility === 'global' || item.visibility === 'global')) return true;
        const identity = { tenant: item.tenant, key: item.key, version: 1 };
        await insertSecret(tx, {
          ...identity,
          created_by: item.owner.createdBy,
          created_at: item.owner.createdAt,
          visibility: item.visibility,
          is_hidden_value: item.isHidden,
          schema: null,
          sealed: sealValue(deps.masters[0]!, identity, text, use),
          provider: item.provider,
        });
        return false;
      }
      if (!isOverriding || !mayOverwrite(whoOf(principal), own)) return true;
      const version = own.version + 1;
      const sealed = sealValue(deps.masters[0]!, { tenant: own.tenant, key: own.key, version }, text, use);
      await updateSecret(tx, own.tenant, own.key, {
        visibility: item.visibility,
        is_hidden_value: item.isHidden,
        value: { sealed, version, provider: item.provider },
      });
      return true;
    }),
  );
}

/**
 * Returns the provider that an item names, as the importer sees it in the destination tenant; null when none is named, or it does
 * not exist there.
 */
async function providerOf(
  deps: SecretDeps,
  principal: Principal,
  tenant: string,
  name: unknown,
): Promise<ProviderRow | null> {
  if (typeof name !== 'string' || name === '' || !mayImportInto(principal, tenant)) return null;
  const who = whoOf(principal);
  const isAdministrator = who.administered === 'all' || who.administered.includes(tenant);
  return writingTo(tenant, () =>
    findVisibleProvider(deps.db.query, { ...who, tenant, isAdministrator }, name),
  );
}

/**
 * Imports the items without faults and reports the others by index. A crash in between leaves a part imported; importing again
 * with override_collisions is safe.
 */
export async function importSecrets(
  deps: SecretDeps,
  principal: Principal,
  request: ImportRequest,
): Promise<ImportResult> {
  const unknown = Object.values(request.tenantMap).filter((tenant) => !mayImportInto(principal, tenant));
  if (unknown.length > 0)
    throw badParameter('tenant_map', `tenants that do not exist: ${unknown.join(', ')}`, {
      expected: 'existing tenants',
    });
  const key = request.passphrase === null ? null : await passphraseKey(request.passphrase);
  const result: ImportResult = { colliding_secrets: {}, secrets_errors: {} };
  const items: Item[] = [];
  const findUser = rememberingUsers(deps.findUser);
  for (const [index, raw] of request.items.entries()) {
    const fields = isJsonObject(raw) ? (raw as Record<string, unknown>) : {};
    const source = String(fields.tenant_name ?? '');
    const tenant = Object.hasOwn(request.tenantMap, source) ? request.tenantMap[source]! : source;
    const provider = await providerOf(deps, principal, tenant, fields.provider);
    const made = await importedOwnership(principal, fields, findUser);
    const faults = {
      ...faultsOf(fields, principal, tenant, key !== null, provider),
      ...('faults' in made && made.faults),
    };
    if ('faults' in made || Object.keys(faults).length > 0) result.secrets_errors[index] = faults;
    else items.push(readItem(fields, tenant, key, provider, made.owner));
  }
  for (const item of items) {
    if (await importOne(deps, principal, item, request.isOverriding))
      (result.colliding_secrets[item.tenant] ??= []).push(item.key);
  }
  return result;
}

/** Returns the passphrase from the header (which is never logged), else from the query (as in the original). */
export function passphraseOf(
  query: string | undefined,
  header: string | string[] | undefined,
): Secret | null {
  const text = typeof header === 'string' && header !== '' ? header : query;
  if (text === undefined || text === '') return null;
  if (text.length > 1024)
    throw new AppError('bad_parameters_error', 'the passphrase is too long', { field: 'passphrase' });
  return new Secret(text);
}

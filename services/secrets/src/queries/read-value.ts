/** Reads the values of secrets, stored here or at a provider, and the connection parameters of providers. */
import { AppError, isAppError, type JsonObject, Secret } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { ProviderClient } from '../adapters/provider-client';
import { type MasterKey, openValue, type SealedValue, sealValue } from '../domain/envelope';
import { type Connection, connectionOf, nameAtProvider } from '../domain/provider';
import type { Who } from '../domain/secret-access';
import { readContent, type SecretContent } from '../domain/secret-content';
import { findProvider, type ProviderRow } from '../store/providers.sql';
import { findVisible, type SecretRow, sealedOf } from '../store/secrets.sql';
import type { DB } from '../store/tables.gen';

export interface ValueDeps {
  db: Db<DB>;
  /** The current key first. */
  masters: readonly MasterKey[];
  providers: ProviderClient;
}

/**
 * The prefix keeps both kinds apart: keys of secrets have no blank, so no sealed value of a secret can pass as the parameters of
 * a provider.
 */
const identityOf = (provider: { tenant: string; name: string; version: number }) => ({
  tenant: provider.tenant,
  key: `provider ${provider.name}`,
  version: provider.version,
});

export function sealParameters(
  masters: readonly MasterKey[],
  provider: { tenant: string; name: string; version: number },
  parameters: JsonObject,
): SealedValue {
  return sealValue(masters[0]!, identityOf(provider), new Secret(JSON.stringify(parameters)));
}

/** @throws AppError invalid_fernet_token_format_error */
export function openParameters(masters: readonly MasterKey[], provider: ProviderRow): JsonObject {
  const sealed = {
    ciphertext: provider.ciphertext,
    wrappedKey: provider.wrapped_key,
    masterKeyId: provider.master_key_id,
  };
  return JSON.parse(openValue(masters, identityOf(provider), sealed).expose()) as JsonObject;
}

const connectionTo = (masters: readonly MasterKey[], provider: ProviderRow): Connection =>
  connectionOf(provider.type, openParameters(masters, provider));

/** Decrypts the content of the row, without calling a provider. @throws AppError invalid_fernet_token_format_error */
export function openContent(masters: readonly MasterKey[], row: SecretRow): SecretContent {
  const isProvided = row.provider_name !== null;
  return readContent(openSealed(masters, row, isProvided), isProvided);
}

function openSealed(masters: readonly MasterKey[], row: SecretRow, isProvided: boolean): Secret {
  if (!isProvided) return openValue(masters, row, sealedOf(row));
  try {
    return openValue(masters, row, sealedOf(row), 'content');
  } catch {
    // Written before the use was bound into the seal; this fallback is removed with release 0.2.
    return openValue(masters, row, sealedOf(row));
  }
}

/** Returns the value; fetches it when an outside provider has it. @throws AppError failed_dependency, naming the provider */
export async function readValue(deps: ValueDeps, row: SecretRow): Promise<Secret> {
  const content = openContent(deps.masters, row);
  if (row.provider_name === null || row.provider_tenant === null) return content.value!;
  const provider = await findProvider(deps.db.query, row.provider_tenant, row.provider_name);
  if (provider === null)
    throw new AppError('failed_dependency', `The secrets provider \`${row.provider_name}\` is gone`);
  const connection = connectionTo(deps.masters, provider);
  if (connection.type === 'local') {
    if (content.value !== null) return content.value;
    throw new AppError(
      'failed_dependency',
      `The secrets provider \`${provider.name}\` has no value of \`${row.key}\``,
    );
  }
  try {
    return await deps.providers.read(connection, nameAtProvider(row.key, content.options));
  } catch (error) {
    if (!isAppError(error)) throw error;
    const reason = `${provider.name}: ${error.message}`;
    throw new AppError('failed_dependency', reason, { provider: provider.name }, { cause: error });
  }
}

/** Returns the secrets with these keys that `who` may see, by key: those of the own tenant, else global ones. */
export async function visibleByKey(
  db: Db<DB>,
  who: Who,
  keys: readonly string[],
): Promise<Map<string, SecretRow>> {
  const rows = new Map<string, SecretRow>();
  // Secrets of the own tenant come first.
  for (const row of await findVisible(db.query, who, keys)) if (!rows.has(row.key)) rows.set(row.key, row);
  return rows;
}

/** Statements of the import of secrets. */

import type { Visibility } from '@baton/contracts';
import type { ImportClient } from '@baton/import-part';
import type { JsonObject } from '@baton/kernel';
import { globalText } from '@baton/postgres';
import type { SealedValue } from '../domain/envelope';
import type { ProviderType } from '../domain/provider';
import type { ProviderRow } from '../store/providers.sql';

/** Who owns what has no owner in the archive. */
const NO_OWNER = 'admin';

export interface UsableProvider {
  tenant: string;
  name: string;
  type: ProviderType;
}

/** Providers that secrets of the tenant may name: its own before global ones. */
export async function providersNamed(
  client: ImportClient,
  tenant: string,
  names: readonly string[],
): Promise<Map<string, UsableProvider>> {
  const { rows } = await client.query<UsableProvider>(
    `select tenant, name, type from secrets_providers
     where name = any($2::text[]) and (tenant = $1 or ${globalText()}) order by tenant = $1`,
    [tenant, names],
  );
  return new Map(rows.map((row) => [row.name, row]));
}

interface Owned {
  created_by?: string | null;
  created_at?: string | null;
}

export async function writeProvider(
  client: ImportClient,
  p: {
    tenant: string;
    name: string;
    version: number;
    type: string;
    visibility: Visibility;
    sealed: SealedValue;
    record: Owned;
  },
): Promise<ProviderRow> {
  const { rows } = await client.query<ProviderRow>(
    `insert into secrets_providers (tenant, name, version, type, visibility, ciphertext, wrapped_key, master_key_id, created_by, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10::timestamptz, app_now()))
     on conflict (tenant, name) do update set version = excluded.version, type = excluded.type, visibility = excluded.visibility,
       ciphertext = excluded.ciphertext, wrapped_key = excluded.wrapped_key, master_key_id = excluded.master_key_id,
       updated_at = app_now()
     returning *`,
    [
      p.tenant,
      p.name,
      p.version,
      p.type,
      p.visibility,
      p.sealed.ciphertext,
      p.sealed.wrappedKey,
      p.sealed.masterKeyId,
      p.record.created_by ?? NO_OWNER,
      p.record.created_at ?? null,
    ],
  );
  return rows[0]!;
}

export interface ImportedSecret extends Owned {
  tenant: string;
  key: string;
  version: number;
  visibility: Visibility;
  is_hidden_value: boolean;
  schema: JsonObject | null;
  provider: UsableProvider | null;
  sealed: SealedValue;
}

/** Adds secrets, or gives them their next version; each key once. */
export async function writeSecrets(client: ImportClient, secrets: readonly ImportedSecret[]): Promise<void> {
  if (secrets.length === 0) return;
  const rows = secrets.map(({ sealed, provider, created_by, ...plain }) => ({
    ...plain,
    created_by: created_by ?? NO_OWNER,
    ciphertext: sealed.ciphertext.toString('base64'),
    wrapped_key: sealed.wrappedKey.toString('base64'),
    master_key_id: sealed.masterKeyId,
    provider_tenant: provider?.tenant ?? null,
    provider_name: provider?.name ?? null,
  }));
  await client.query(
    `insert into secrets (tenant, key, version, visibility, is_hidden_value, schema, ciphertext, wrapped_key, master_key_id,
       provider_tenant, provider_name, created_by, created_at)
     select tenant, key, version, visibility, is_hidden_value, schema, decode(ciphertext, 'base64'), decode(wrapped_key, 'base64'),
       master_key_id, provider_tenant, provider_name, created_by, coalesce(created_at, app_now())
     from json_to_recordset($1::json) as r (tenant text, key text, version integer, visibility text, is_hidden_value boolean,
       schema json, ciphertext text, wrapped_key text, master_key_id text, provider_tenant text, provider_name text,
       created_by text, created_at timestamptz)
     on conflict (tenant, key) do update set version = excluded.version, visibility = excluded.visibility,
       is_hidden_value = excluded.is_hidden_value, schema = excluded.schema, ciphertext = excluded.ciphertext,
       wrapped_key = excluded.wrapped_key, master_key_id = excluded.master_key_id, provider_tenant = excluded.provider_tenant,
       provider_name = excluded.provider_name, updated_at = app_now()`,
    [JSON.stringify(rows)],
  );
}

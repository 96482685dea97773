import { type ExportWanted, type ImportClient, sealForBundle } from '@baton/import-part';
import type { Json, JsonObject } from '@baton/kernel';
import { openContent, openParameters, type ValueDeps } from '../queries/read-value';
import type { ProviderRow } from '../store/providers.sql';
import type { SecretRow } from '../store/secrets.sql';

const ROWS_AT_ONCE = 200;

/** Names that a closure lists; null: everything of the tenant. */
const namesIn = ({ deploymentId, closure }: ExportWanted, list: string): string[] | null => {
  if (deploymentId === '') return null;
  const names = closure[list];
  return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : [];
};

/** Providers and secrets of a tenant, or the secrets that a deployment reads with their providers. Values travel sealed, or not at all. */
export async function* exportSecrets(
  client: ImportClient,
  wanted: ExportWanted,
  masters: ValueDeps['masters'],
): AsyncGenerator<{ type: string; items: JsonObject[] }, void, void> {
  const keys = namesIn(wanted, 'secrets');
  const { rows: providers } = await client.query<ProviderRow>(
    `select * from secrets_providers p where tenant = $1 and ($2::text[] is null or exists (
       select from secrets s where s.provider_tenant = p.tenant and s.provider_name = p.name and s.tenant = $1 and s.key = any($2)))
     order by name`,
    [wanted.tenant, keys],
  );
  yield { type: 'secrets_providers', items: providers.map((row) => providerItem(row, wanted, masters)) };
  for (let after = ''; ; ) {
    const { rows } = await client.query<SecretRow>(
      `select * from secrets where tenant = $1 and ($2::text[] is null or key = any($2)) and key collate "C" > $3
       order by key collate "C" limit $4`,
      [wanted.tenant, keys, after, ROWS_AT_ONCE],
    );
    if (rows.length === 0) return;
    yield { type: 'secrets', items: rows.map((row) => secretItem(row, wanted, masters)) };
    after = rows.at(-1)!.key;
  }
}

/** Fields that travel sealed; without a key of the bundle they do not travel. */
function sealed(
  { bundleKey }: ExportWanted,
  type: string,
  id: string,
  fields: Record<string, () => Json>,
): JsonObject {
  if (bundleKey === '') return {};
  const entries = Object.entries(fields).map(([field, value]) => [
    field,
    sealForBundle(bundleKey, [type, id, field], value()),
  ]);
  return { sealed: Object.fromEntries(entries) as JsonObject };
}

function providerItem(row: ProviderRow, wanted: ExportWanted, masters: ValueDeps['masters']): JsonObject {
  const { name, type, visibility, created_by, created_at, updated_at } = row;
  return {
    ...({ name, type, visibility, created_by, created_at, updated_at } as JsonObject),
    ...sealed(wanted, 'secrets_providers', name, {
      connection_parameters: () => openParameters(masters, row),
    }),
  };
}

function secretItem(row: SecretRow, wanted: ExportWanted, masters: ValueDeps['masters']): JsonObject {
  const { key, visibility, is_hidden_value, schema, provider_name, created_by, created_at, updated_at } = row;
  return {
    ...({
      key,
      visibility,
      is_hidden_value,
      schema,
      provider_name,
      created_by,
      created_at,
      updated_at,
    } as JsonObject),
    ...sealed(wanted, 'secrets', key, {
      value: () => openContent(masters, row).value?.expose() ?? null,
      provider_options: () => openContent(masters, row).options,
    }),
  };
}

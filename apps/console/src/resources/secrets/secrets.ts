/** Reads and changes secrets. Values can be written but are never read: no query here requests one. */
import type { Client, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { listOf } from '../../api/lists';

export const SECRETS = 'secrets';

const ROW_FIELDS = [
  'key',
  'visibility',
  'is_hidden_value',
  'provider_name',
  'updated_at',
  'created_by',
  'tenant_name',
] as const;
export type SecretRow = Pick<Schemas['SecretItem'], (typeof ROW_FIELDS)[number]>;
export const secretList = listOf<SecretRow>(SECRETS, 'listSecrets', ROW_FIELDS);

const DETAIL_FIELDS = [...ROW_FIELDS, 'created_at', 'schema'] as const;
export type SecretDetail = Pick<Schemas['Secret'], (typeof DETAIL_FIELDS)[number]>;

/** Actions for one secret. */
export type SecretAction = 'value' | 'edit' | 'delete';

export const secretQuery = (client: Client, tenant: string, key: string) =>
  queryOptions({
    queryKey: [SECRETS, tenant, 'one', key],
    queryFn: async ({ signal }): Promise<SecretDetail> =>
      await client.call('getSecret', {
        tenant,
        signal,
        params: { secret_key: key },
        query: { _skip_value: true, _include: DETAIL_FIELDS.join(',') },
      }),
  });

/** Restricts the answer to the key: otherwise the API would return the value. */
const QUIET = { _include: 'key' };

export type NewSecret = Schemas['SecretCreate'] & { key: string };

export const createSecret = (client: Client, tenant: string, { key, ...body }: NewSecret) =>
  client.call('putSecret', { tenant, params: { secret_key: key }, query: QUIET, body });

/** Sets a new value or a new visibility. */
export const changeSecret = (client: Client, tenant: string, key: string, body: Schemas['SecretUpdate']) =>
  client.call('patchSecret', { tenant, params: { secret_key: key }, query: QUIET, body });

export const deleteSecret = (client: Client, tenant: string, key: string) =>
  client.call('deleteSecret', { tenant, params: { secret_key: key } });

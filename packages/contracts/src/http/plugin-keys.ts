import { z } from 'zod';
import { defineRoutes } from '../route';
import { columnsOf } from './list-columns';
import { bodyFlag, envelope, instant, resourceId } from './shapes';

const MAX_PEM = 2_048;

const state = z
  .enum(['trusted', 'revoked'])
  .describe('revoked: what the key has signed is neither uploaded nor run');

/** Public key whose signatures of plugins a tenant trusts. */
const pluginKey = z
  .object({
    name: z.string(),
    public_key: z.string().describe('Ed25519, in PEM'),
    fingerprint: z.string().describe('`SHA256:` and the digest of the raw key in base64'),
    state,
    created_at: instant,
    created_by: z.string(),
    changed_at: instant.describe('Latest change of the state'),
    changed_by: z.string(),
    tenant_name: z.string(),
  })
  .meta({ id: 'PluginKey' });
const fields = Object.keys(pluginKey.shape);
const columns = columnsOf(pluginKey, ['public_key']);

/** Whether the tenant takes plugins without a trusted signature. */
const pluginTrust = z
  .object({
    requires_signature: z.boolean().describe('Whether an upload needs the signature of a trusted key'),
    is_default: z.boolean().describe('True: the tenant takes the value of the configuration of the manager'),
    is_enforced: z
      .boolean()
      .describe('True: the manager requires signatures, so the tenant cannot do without'),
  })
  .meta({ id: 'PluginTrust' });

const own = {
  owner: 'catalog',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'Baton',
} as const;
const path = '/plugin-keys/:key_name';
const params = z.object({ key_name: resourceId });

export const pluginKeyRoutes = defineRoutes([
  {
    ...own,
    id: 'listPluginKeys',
    method: 'GET',
    path: '/plugin-keys',
    permission: 'plugin_list',
    summary: 'Keys whose signatures of plugins the tenant trusts',
    list: {
      fields,
      filters: columns,
      sorts: columns,
      search: 'name',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(pluginKey),
  },
  {
    ...own,
    id: 'getPluginKey',
    method: 'GET',
    path,
    permission: 'plugin_list',
    summary: 'One key',
    params,
    includeFields: fields,
    status: 200,
    response: pluginKey,
  },
  {
    ...own,
    id: 'putPluginKey',
    method: 'PUT',
    path,
    permission: 'administrators',
    summary: 'Trusts a key',
    params,
    body: z.strictObject({ public_key: z.string().max(MAX_PEM) }),
    includeFields: fields,
    status: 201,
    response: pluginKey,
  },
  {
    ...own,
    id: 'patchPluginKey',
    method: 'PATCH',
    path,
    permission: 'administrators',
    summary: 'Revokes a key, or trusts it again',
    params,
    body: z.strictObject({ state }),
    includeFields: fields,
    status: 200,
    response: pluginKey,
  },
  {
    ...own,
    id: 'deletePluginKey',
    method: 'DELETE',
    path,
    permission: 'administrators',
    summary: 'Removes a key: what it has signed stays, further uploads are not trusted',
    params,
    status: 204,
  },
  {
    ...own,
    id: 'getPluginTrust',
    method: 'GET',
    path: '/plugin-trust',
    permission: 'plugin_list',
    summary: 'Whether plugins need the signature of a trusted key',
    status: 200,
    response: pluginTrust,
  },
  {
    ...own,
    id: 'putPluginTrust',
    method: 'PUT',
    path: '/plugin-trust',
    permission: 'administrators',
    summary: 'Decides whether plugins need the signature of a trusted key',
    body: z.strictObject({ requires_signature: bodyFlag }),
    status: 200,
    response: pluginTrust,
  },
]);

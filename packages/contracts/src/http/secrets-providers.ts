import { z } from 'zod';
import { defineRoutes, type ListContract } from '../route';
import { columnsOf } from './list-columns';
import { createdFields, envelope, instant, jsonObject, ownedFields, resourceId, visibility } from './shapes';

/**
 * Secret store (reference/rest-api.md 5.23). Connection parameters are null without the permission
 * secrets_provider_credentials.
 */
const secretsProvider = z
  .object({
    ...ownedFields,
    id: z.string(),
    name: z.string(),
    type: z.enum(['local', 'vault', 'cloudify']),
    connection_parameters: jsonObject.nullable(),
    updated_at: instant,
  })
  .meta({ id: 'SecretsProvider' });
const secretsProviderFields = Object.keys(secretsProvider.shape);

const plainColumns = columnsOf(secretsProvider);
const list: ListContract = {
  fields: secretsProviderFields,
  filters: plainColumns,
  sorts: plainColumns,
  search: 'name',
  defaultSort: [{ field: 'created_at', descending: false }],
  allowsAllTenants: true,
  allowsGetAll: true,
};

const change = {
  type: secretsProvider.shape.type.optional(),
  connection_parameters: jsonObject
    .nullish()
    .describe('vault: url, token, path, mount; cloudify: host, username, password, tenant, protocol'),
  visibility: visibility.optional(),
  /** Only tests the connection: 204. */
  test: z.boolean().default(false),
};
/** Clients that test a provider before they save it send empty texts. */
const orNothing = <T extends z.ZodType>(shape: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), shape.optional());

const owned = {
  owner: 'secrets',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'reference 5.23',
  status: 200,
  includeFields: secretsProviderFields,
} as const;
const one = '/secrets-providers/:provider_name';

export const secretsProviderRoutes = defineRoutes([
  {
    ...owned,
    id: 'listSecretsProviders',
    method: 'GET',
    path: '/secrets-providers',
    permission: 'secrets_provider_list',
    summary: 'Stores of secrets',
    list,
    response: envelope(secretsProvider),
  },
  {
    ...owned,
    id: 'getSecretsProvider',
    method: 'GET',
    path: one,
    permission: 'secrets_provider_get',
    summary: 'One store of secrets',
    response: secretsProvider,
  },
  {
    ...owned,
    id: 'createSecretsProvider',
    method: 'PUT',
    path: '/secrets-providers',
    permission: 'secrets_provider_create',
    summary: 'Enters a store of secrets that can be reached; with test=true only tries it (204)',
    body: z
      .object({
        ...change,
        ...createdFields,
        name: orNothing(resourceId),
        type: orNothing(secretsProvider.shape.type),
      })
      .meta({ id: 'SecretsProviderCreate' }),
    response: secretsProvider,
  },
  {
    ...owned,
    id: 'updateSecretsProvider',
    method: 'PATCH',
    path: one,
    permission: 'secrets_provider_update',
    summary: 'Changes how a store of secrets is reached, or who sees it; with test=true only tries it (204)',
    body: z.object(change).meta({ id: 'SecretsProviderUpdate' }),
    response: secretsProvider,
  },
  {
    ...owned,
    id: 'deleteSecretsProvider',
    method: 'DELETE',
    path: one,
    permission: 'secrets_provider_delete',
    summary: 'Removes a store that no secret is kept in',
    status: 204,
  },
]);

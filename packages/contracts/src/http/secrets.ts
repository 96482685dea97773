import { z } from 'zod';
import { defineRoutes, type ListContract } from '../route';
import { searchBody } from './filters';
import { columnsOf } from './list-columns';
import {
  bodyFlag,
  changedOwnershipFields,
  createdFields,
  envelope,
  instant,
  jsonObject,
  ownedFields,
  queryBoolean,
  resourceId,
  visibility,
  widerVisibility,
} from './shapes';

/** List item: everything except the value (spec v3.1 part 2, Secret; reference 5.23). */
const secretItem = z
  .object({
    ...ownedFields,
    key: z.string(),
    id: z.string(),
    is_hidden_value: z.boolean(),
    updated_at: instant,
    provider_name: z.string().nullable(),
  })
  .meta({ id: 'SecretItem' });
const secretItems = envelope(secretItem);
/** A single secret. The value is a text, or any JSON when the secret has a schema; empty for callers who may not see it. */
const secret = secretItem
  .extend({ value: z.unknown(), schema: jsonObject.nullable(), provider_options: z.unknown() })
  .meta({ id: 'Secret' });
const secretItemFields = Object.keys(secretItem.shape);
const secretFields = Object.keys(secret.shape);

const plainColumns = columnsOf(secretItem);
const secretList: ListContract = {
  fields: secretItemFields,
  filters: plainColumns,
  sorts: plainColumns,
  search: 'key',
  defaultSort: [{ field: 'created_at', descending: false }],
  allowsAllTenants: true,
  allowsGetAll: true,
};

export const putSecretBody = z
  .object({
    value: z.unknown(),
    schema: jsonObject.nullish(),
    update_if_exists: bodyFlag.default(false),
    visibility: visibility.optional(),
    private_resource: z.boolean().optional(),
    is_hidden_value: bodyFlag.optional(),
    provider_name: z.string().nullish(),
    provider_options: jsonObject.nullish(),
    ...createdFields,
  })
  .meta({ id: 'SecretCreate' });

/** Unknown keys are ignored; a body without any key is refused. */
const patchSecretBody = z
  .looseObject({
    value: z.unknown().optional(),
    visibility: visibility.optional(),
    is_hidden_value: bodyFlag.optional(),
    provider_name: z.string().nullish(),
    provider_options: jsonObject.nullish(),
    ...changedOwnershipFields,
  })
  .meta({ id: 'SecretUpdate' });

/** reference 8.1: items are checked one by one, so their fields are not restricted here. */
const importSecretsBody = z
  .object({
    secrets_list: z.array(z.unknown()),
    tenant_map: z.record(z.string(), z.string()).optional(),
    /** Name of tenant_map in the spec. */
    tenant_map_dict: z.record(z.string(), z.string()).optional(),
    passphrase: z.string().optional(),
    override_collisions: z.boolean(),
  })
  .meta({ id: 'SecretsImport' });

const exportedSecret = z
  .object({
    key: z.string(),
    value: z.string(),
    visibility,
    tenant_name: z.string(),
    is_hidden_value: z.boolean(),
    encrypted: z.boolean(),
    provider: z.string().nullable(),
    provider_options: z.unknown(),
    creator: z.string().optional(),
    created_at: instant.optional(),
    updated_at: instant.optional(),
  })
  .meta({ id: 'ExportedSecret' });

/** All secrets are exported, whatever the page size. */
const exportList: ListContract = { ...secretList, fields: Object.keys(exportedSecret.shape) };

const owned = { owner: 'secrets', tenant: 'required', versions: ['v3.1'] } as const;
const path = '/secrets/:secret_key';
const params = z.object({ secret_key: resourceId });

export const secretRoutes = defineRoutes([
  {
    ...owned,
    id: 'listSecrets',
    method: 'GET',
    path: '/secrets',
    permission: 'secret_list',
    summary: 'Secrets without their values',
    spec: 'v3.1-part2 Secrets',
    list: secretList,
    status: 200,
    response: secretItems,
  },
  {
    ...owned,
    id: 'exportSecrets',
    method: 'GET',
    path: '/secrets/share/export',
    permission: 'secret_export',
    summary: 'Secrets with their values, encrypted when a passphrase is given',
    spec: 'v3.1-part2 Secrets',
    // The answer is a bare array, but it is filtered and limited like a list.
    list: exportList,
    query: z.object({
      _passphrase: z.string().optional(),
      _include_metadata: queryBoolean.optional(),
      'non-encrypted': z.string().optional(),
    }),
    status: 200,
    response: z.array(exportedSecret),
  },
  {
    ...owned,
    id: 'importSecrets',
    method: 'POST',
    path: '/secrets/share/import',
    permission: 'secret_import',
    summary: 'Creates or replaces secrets from an export',
    spec: 'v3.1-part2 Secrets',
    body: importSecretsBody,
    isNullRefused: true,
    status: 200,
    response: z.object({
      colliding_secrets: z.record(z.string(), z.array(z.string())),
      secrets_errors: z.record(z.string(), z.record(z.string(), z.unknown())),
    }),
  },
  {
    ...owned,
    id: 'getSecret',
    method: 'GET',
    path,
    permission: 'secret_get',
    summary: 'One secret with its value',
    spec: 'v3.1-part2 Secrets',
    query: z.object({ _skip_value: queryBoolean.optional() }),
    params,
    status: 200,
    response: secret,
    includeFields: secretFields,
  },
  {
    ...owned,
    id: 'putSecret',
    method: 'PUT',
    path,
    permission: 'secret_create',
    summary: 'Creates a secret, or replaces the value of one',
    spec: 'v3.1-part2 Secrets',
    params,
    body: putSecretBody,
    status: 200,
    response: secret,
    includeFields: secretFields,
  },
  {
    ...owned,
    id: 'patchSecret',
    method: 'PATCH',
    path,
    permission: 'secret_update',
    summary: 'Changes value, visibility or hiding',
    spec: 'v3.1-part2 Secrets',
    params,
    body: patchSecretBody,
    status: 200,
    response: secret,
    includeFields: secretFields,
  },
  {
    ...owned,
    id: 'deleteSecret',
    method: 'DELETE',
    path,
    permission: 'secret_delete',
    summary: 'Deletes a secret',
    spec: 'v3.1-part2 Secrets',
    params,
    status: 204,
  },
  {
    ...owned,
    id: 'setSecretVisibility',
    method: 'PATCH',
    path: `${path}/set-visibility`,
    permission: 'secret_update',
    summary: 'Widens who sees the secret',
    spec: 'v3.1-part2 Secrets',
    body: z.object({ visibility: widerVisibility }),
    status: 200,
    response: secret,
    includeFields: secretFields,
  },
  {
    ...owned,
    id: 'setSecretGlobal',
    method: 'PATCH',
    path: `${path}/set-global`,
    isGoneFromOriginal: true,
    permission: 'secret_update',
    summary: 'Makes the secret global (deprecated)',
    spec: 'v3.1-part2 Secrets',
    status: 200,
    response: secret,
    includeFields: secretFields,
  },
  {
    ...owned,
    id: 'searchSecrets',
    method: 'POST',
    path: '/searches/secrets',
    permission: 'secret_list',
    summary: 'Secrets that rules or constraints select',
    spec: 'reference 5.11',
    list: { ...secretList, fields: secretFields },
    body: searchBody,
    status: 200,
    response: envelope(secret),
  },
]);

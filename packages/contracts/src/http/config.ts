import { z } from 'zod';
import { defineRoutes } from '../route';
import { instant, jsonObject } from './shapes';

/** One value of the manager's configuration (reference/rest-api.md 5.21). */
const configItem = z
  .object({
    name: z.string(),
    value: z.unknown(),
    scope: z.string(),
    /** JSON schema that new values must match; null: any value. */
    schema: jsonObject.nullable(),
    is_editable: z.boolean(),
    /** Users other than administrators see ********. */
    admin_only: z.boolean(),
    updated_at: instant.nullable(),
    updater_name: z.string().nullable(),
  })
  .meta({ id: 'ConfigItem' });

/** The permissions of roles; absent when one scope was requested. */
const authorization = z.object({
  roles: z.array(
    z.object({
      id: z.number().int(),
      name: z.string(),
      type: z.string(),
      description: z.string().nullable(),
    }),
  ),
  permissions: z.record(z.string(), z.array(z.string())),
});

const common = {
  owner: 'cluster-status',
  tenant: 'optional',
  versions: ['v3.1'],
  status: 200,
  spec: 'reference 5.21',
  isOpenInMaintenance: true,
} as const;

export const configRoutes = defineRoutes([
  {
    ...common,
    id: 'listConfig',
    method: 'GET',
    path: '/config',
    permission: 'manager_config_get',
    summary: 'Configuration, roles and permissions of the manager',
    query: z.object({ scope: z.string().optional() }),
    includeFields: ['metadata', 'items', 'authorization'],
    response: z.object({
      metadata: jsonObject,
      items: z.array(configItem),
      authorization: authorization.optional(),
    }),
  },
  {
    ...common,
    id: 'getConfig',
    method: 'GET',
    path: '/config/:name',
    permission: 'manager_config_get',
    summary: 'One value, by name or scope.name',
    response: configItem,
  },
  {
    ...common,
    id: 'putConfig',
    method: 'PUT',
    path: '/config/:name',
    permission: 'manager_config_put',
    summary: 'Set one value, by name or scope.name',
    body: z.object({
      value: z.unknown().refine((value) => value !== undefined, 'must be given'),
      force: z.boolean().optional(),
    }),
    response: configItem,
  },
]);

/** Requests of users about themselves, and their own settings; nobody can use them for another user. */
import { z } from 'zod';
import { defineRoutes } from '../route';
import { columnsOf } from './list-columns';
import { envelope, instant, jsonObject } from './shapes';

const ownPermissions = z
  .object({
    username: z.string(),
    tenant: z.string().describe('Of the Tenant header; empty without one'),
    roles: z.array(z.string()).describe('Roles that count there, by name'),
    permissions: z.array(z.string()).describe('What they permit, by name'),
  })
  .meta({ id: 'OwnPermissions' });
export type OwnPermissionsAnswer = z.infer<typeof ownPermissions>;

/** A saved view of a screen: in one tenant, under a name that the user chose. */
const savedView = z
  .object({
    name: z.string(),
    screen: z.string(),
    query: z.string().describe('Filters, order and columns, as the query of an address'),
    is_shared: z.boolean().describe('Whether others of the tenant see it'),
    created_by: z.string(),
    tenant_name: z.string(),
    created_at: instant,
  })
  .meta({ id: 'SavedView' });
export type SavedViewAnswer = z.infer<typeof savedView>;
const viewFields = Object.keys(savedView.shape) as (keyof SavedViewAnswer)[];

const line = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\p{Cc}]*$/u, 'must hold no control characters');
const viewName = z.object({ name: line(100).min(1) });
const views = columnsOf(savedView);

const shared = {
  owner: 'identity',
  permission: 'user_get_self',
  versions: ['v3.1'],
  spec: 'Baton',
} as const;

export const ownUserRoutes = defineRoutes([
  {
    id: 'getOwnPermissions',
    method: 'GET',
    path: '/user/permissions',
    ...shared,
    // Every logged-in caller may know their own permissions, the code of an execution too.
    permission: 'login',
    tenant: 'optional',
    summary: 'What the user who asks may do in the tenant',
    status: 200,
    response: ownPermissions,
  },
  {
    id: 'getPreferences',
    method: 'GET',
    path: '/user/preferences',
    ...shared,
    tenant: 'none',
    summary: 'What the user who asks has set for the console',
    status: 200,
    response: jsonObject,
  },
  {
    id: 'setPreferences',
    method: 'PUT',
    path: '/user/preferences',
    ...shared,
    tenant: 'none',
    summary: 'Replace the preferences: a JSON object of at most 64 KiB',
    body: jsonObject,
    isNullRefused: true,
    status: 200,
    response: jsonObject,
  },
  {
    id: 'listViews',
    method: 'GET',
    path: '/user/views',
    ...shared,
    tenant: 'required',
    summary: "The user's own views in the tenant, and those that others share there",
    list: {
      fields: viewFields,
      filters: views,
      sorts: views,
      search: 'name',
      defaultSort: [{ field: 'name', descending: false }],
      allowsAllTenants: false,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(savedView),
  },
  {
    id: 'putView',
    method: 'PUT',
    path: '/user/views/:name',
    ...shared,
    tenant: 'required',
    summary: 'Keep a view under a name, in place of an own one of that name',
    params: viewName,
    body: z
      .object({
        screen: line(100).min(1),
        query: line(4096),
        is_shared: z.boolean().optional(),
      })
      .meta({ id: 'NewSavedView' }),
    includeFields: viewFields,
    status: 200,
    response: savedView,
  },
  {
    id: 'deleteView',
    method: 'DELETE',
    path: '/user/views/:name',
    ...shared,
    tenant: 'required',
    summary: 'Remove an own view',
    // The name is only looked up.
    params: z.object({ name: z.string() }),
    status: 204,
  },
]);

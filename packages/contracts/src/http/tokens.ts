import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, instant } from './shapes';

/** A token (reference/rest-api.md 2.3); only the answer of its creation has the complete `value`. */
export const token = z
  .object({
    id: z.string(),
    username: z.string(),
    value: z.string(),
    role: z.string(),
    description: z.string().nullable(),
    expiration_date: instant.nullable(),
    last_used: instant.nullable(),
  })
  .meta({ id: 'Token' });
export type TokenAnswer = z.infer<typeof token>;
const tokenFields = Object.keys(token.shape) as (keyof TokenAnswer)[];

/** The list of tokens. It also contains the token that older clients obtain by GET (2.3). */
const tokenList = envelope(token).extend({
  value: z.string().optional(),
  role: z.string().optional(),
  username: z.string().optional(),
});

const shared = { owner: 'identity', tenant: 'optional', versions: ['v2.1', 'v3.1'] } as const;

const obtain = {
  method: 'GET',
  permission: 'token_get',
  summary: 'Obtain a token (role, value) and list the tokens of the caller',
  ...shared,
  list: {
    fields: tokenFields,
    filters: ['id', 'description', 'last_used', 'expiration_date', 'created_at', 'username', 'role'],
    sorts: ['id', 'description', 'last_used', 'expiration_date', 'created_at'],
    defaultSort: [{ field: 'created_at', descending: false }],
    allowsAllTenants: false,
    allowsGetAll: true,
  },
  status: 200,
  response: tokenList,
} as const;

export const tokensRoutes = defineRoutes([
  { ...obtain, id: 'listTokens', path: '/tokens', spec: 'v3.1-part1 Authentication' },
  {
    ...obtain,
    id: 'obtainToken',
    path: '/token',
    versions: ['v2.1'],
    summary: 'As /tokens: the sample of the document asks here',
    spec: 'v2.1 Endpoints',
  },
  {
    id: 'createToken',
    method: 'POST',
    path: '/tokens',
    permission: 'create_token',
    summary: 'Create a token',
    spec: 'reference 2.3',
    ...shared,
    body: z.object({
      description: z.string().nullable().optional(),
      expiration_date: z.string().nullable().optional(),
    }),
    includeFields: tokenFields,
    status: 200,
    response: token,
  },
  {
    id: 'getToken',
    method: 'GET',
    path: '/tokens/:token_id',
    permission: 'list_token',
    summary: 'One token, its secret masked',
    spec: 'reference 2.3',
    ...shared,
    includeFields: tokenFields,
    status: 200,
    response: token,
  },
  {
    id: 'deleteToken',
    method: 'DELETE',
    path: '/tokens/:token_id',
    permission: 'delete_token',
    summary: 'Revoke a token',
    spec: 'reference 2.3',
    ...shared,
    status: 204,
  },
  {
    id: 'checkMonitoringAccess',
    method: 'GET',
    path: '/monitoring-auth',
    owner: 'identity',
    // The credential may be a cookie that the gateway does not check.
    permission: 'none',
    isCredentialRead: true,
    tenant: 'none',
    versions: ['v3.1'],
    summary: 'Whether the token in cookie XSRF-TOKEN, or the caller, may see monitoring',
    spec: 'reference 5.30',
    status: 200,
    response: z.looseObject({}),
    isOpenInMaintenance: true,
  },
]);

import { z } from 'zod';
import { defineRoutes } from '../route';
import { instant, resourceId } from './shapes';

const MAX_RULES = 500;
const text = z.string().min(1).max(1024);

/** Ids of providers stand in the paths of their callbacks. */
const providerId = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,62}$/, 'must be a small letter, then at most 62 small letters, digits or "-"');

const tenantRole = z.object({ name: resourceId, role: text });

/** What the members of one group of the provider get: a system role, roles in tenants, or both. */
const mappingRule = z.object({
  group: text.describe('Name of the group exactly as the provider writes it'),
  role: text.optional().describe('System role'),
  tenants: z.array(tenantRole).max(MAX_RULES).optional(),
});
export type MappingRule = z.infer<typeof mappingRule>;

const claims = z.object({
  username: text.optional().describe('Claim with the user name; default preferred_username'),
  groups: text.optional().describe('Claim with the groups, points lead inside objects; default groups'),
  strip_suffix: text
    .optional()
    .describe('Ending that is cut off user names, such as @example.org; other endings stay'),
});

const settings = {
  name: text.optional().describe('Text of the button; default: the id'),
  issuer: z.string().max(1024).optional().describe('https address of the provider, as its tokens name it'),
  client_id: text.optional(),
  client_secret: z.string().min(1).max(4096).optional().describe('Stored sealed, never read back'),
  scopes: z.array(text).max(50).optional().describe('Default openid, profile, offline_access'),
  parameters: z
    .record(text, text)
    .optional()
    .describe('More parameters of the authorization request, such as prompt or access_type'),
  claims: claims.optional(),
  mapping: z.array(mappingRule).max(MAX_RULES).optional(),
  provision: z
    .enum(['jit', 'preexisting'])
    .optional()
    .describe('jit (default): the first sign-in makes the user; preexisting: an administrator makes it'),
  ca_certificate: z
    .string()
    .max(65_536)
    .nullable()
    .optional()
    .describe('PEM of the authority of the provider, where it is none of the well-known ones'),
  is_enabled: z.boolean().optional(),
};

const newProvider = z.object({ type: z.literal('oidc'), ...settings }).meta({ id: 'NewIdentityProvider' });
const providerChange = z.object(settings).meta({ id: 'IdentityProviderChange' });
export type ProviderChange = z.infer<typeof providerChange>;

export const identityProvider = z
  .object({
    id: z.string(),
    type: z.literal('oidc'),
    name: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    has_client_secret: z.boolean(),
    scopes: z.array(z.string()),
    parameters: z.record(z.string(), z.string()),
    claims: z.object({
      username: z.string(),
      groups: z.string(),
      strip_suffix: z.string().nullable(),
    }),
    mapping: z.array(mappingRule),
    provision: z.enum(['jit', 'preexisting']),
    ca_certificate: z.string().nullable(),
    is_enabled: z.boolean(),
    users: z.number().int().describe('Users that belong to the provider'),
    created_at: instant,
  })
  .meta({ id: 'IdentityProvider' });
export type IdentityProviderAnswer = z.infer<typeof identityProvider>;

const providerTest = z
  .object({
    ok: z.boolean(),
    step: z
      .enum(['address', 'discovery', 'keys', 'client', 'done'])
      .describe('The step that failed, or done'),
    message: z.string().describe('One sentence about the failure, or about what was found'),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'IdentityProviderTest' });
export type ProviderTestAnswer = z.infer<typeof providerTest>;

const providerUser = z.object({
  username: resourceId,
  subject: z.string().min(1).max(255).describe('The user at the provider: claim sub'),
});

// Only system administrators: the handlers check it once more, because roles can be given permissions.
const shared = {
  owner: 'identity',
  permission: 'ldap_set',
  tenant: 'none',
  versions: ['v3.1'],
  spec: 'Baton',
} as const;
const params = z.object({ provider_id: providerId });
const one = { path: '/identity-providers/:provider_id', params, ...shared } as const;

export const identityProviderRoutes = defineRoutes([
  {
    id: 'listIdentityProviders',
    method: 'GET',
    path: '/identity-providers',
    ...shared,
    summary: 'Identity providers: where users of the organisation sign in',
    status: 200,
    response: z.object({ items: z.array(identityProvider) }),
  },
  {
    id: 'putIdentityProvider',
    method: 'PUT',
    ...one,
    summary:
      'Create an identity provider, or replace its settings; without client_secret the stored one stays',
    body: newProvider,
    isNullRefused: true,
    status: 200,
    response: identityProvider,
  },
  {
    id: 'getIdentityProviderById',
    method: 'GET',
    ...one,
    summary: 'One identity provider, without its secret',
    status: 200,
    response: identityProvider,
  },
  {
    id: 'changeIdentityProvider',
    method: 'PATCH',
    ...one,
    summary: 'Change some settings of an identity provider; what is absent stays',
    body: providerChange,
    isNullRefused: true,
    status: 200,
    response: identityProvider,
  },
  {
    id: 'deleteIdentityProvider',
    method: 'DELETE',
    ...one,
    summary: 'Delete an identity provider that no user belongs to',
    status: 204,
  },
  {
    id: 'testIdentityProvider',
    method: 'POST',
    path: '/identity-providers/:provider_id/test',
    params,
    ...shared,
    // Changes nothing.
    isNotAudited: true,
    summary: 'Ask the provider as a sign-in would, and say in one sentence what fails',
    body: z.looseObject({}),
    isBodyOptional: true,
    status: 200,
    response: providerTest,
  },
  {
    id: 'addProviderUser',
    method: 'POST',
    path: '/identity-providers/:provider_id/users',
    params,
    ...shared,
    summary: 'Make a user that belongs to the provider, before the first sign-in',
    body: providerUser,
    status: 201,
    response: z.object({ username: z.string(), provider: z.string(), subject: z.string() }),
  },
]);

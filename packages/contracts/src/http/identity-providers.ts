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

/** Settings of every kind of provider. */
const common = {
  name: text.optional().describe('Name on the page of the sign-in; default: the id'),
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

/** Settings of OpenID Connect. */
const oidc = {
  issuer: z.string().max(1024).optional().describe('https address of the provider, as its tokens name it'),
  client_id: text.optional(),
  client_secret: z.string().min(1).max(4096).optional().describe('Stored sealed, never read back'),
  scopes: z.array(text).max(50).optional().describe('Default openid, profile, offline_access'),
  parameters: z
    .record(text, text)
    .optional()
    .describe('More parameters of the authorization request, such as prompt or access_type'),
  claims: claims.optional(),
};

/** Settings of a directory (LDAP). */
const ldap = {
  urls: z
    .array(text)
    .min(1)
    .max(8)
    .optional()
    .describe(
      'ldaps://host, or ldap://host, which always uses STARTTLS; the next one is asked when one is away',
    ),
  bind_dn: text.optional().describe('Account that searches users and groups'),
  bind_password: z.string().min(1).max(4096).optional().describe('Stored sealed, never read back'),
  user_base: text.optional().describe('Entry below which the users are'),
  user_filter: z
    .string()
    .max(4096)
    .optional()
    .describe(
      'Filter of users; {username} stands for the name. Default (&(objectClass=inetOrgPerson)(uid={username}))',
    ),
  username_attribute: text.optional().describe('Attribute with the user name; default uid'),
  subject_attribute: text
    .optional()
    .describe(
      'Attribute that never changes for a user: entryUUID (default), or objectGUID of Active Directory',
    ),
  group_base: text
    .nullable()
    .optional()
    .describe('Entry below which the groups are; null: no groups are read'),
  group_filter: z
    .string()
    .max(4096)
    .optional()
    .describe(
      'Filter of groups; {dn} stands for the member, {username} for the user name. Default (|(member={dn})(uniqueMember={dn}))',
    ),
  group_name_attribute: text
    .optional()
    .describe(
      'Attribute with the name that rules of the mapping use; dn: the whole name of the entry. Default cn',
    ),
  nested_groups: z.boolean().optional().describe('Whether groups in groups count; default true'),
};

const settings = { ...common, ...oidc, ...ldap };
const newProvider = z
  .object({ type: z.enum(['oidc', 'ldap']), ...settings })
  .meta({ id: 'NewIdentityProvider' });
const providerChange = z.object(settings).meta({ id: 'IdentityProviderChange' });
export type ProviderChange = z.infer<typeof providerChange>;
export type NewProvider = z.infer<typeof newProvider>;

const shown = {
  id: z.string(),
  name: z.string(),
  mapping: z.array(mappingRule),
  provision: z.enum(['jit', 'preexisting']),
  ca_certificate: z.string().nullable(),
  is_enabled: z.boolean(),
  users: z.number().int().describe('Users that belong to the provider'),
  created_at: instant,
};

const oidcProvider = z
  .object({
    ...shown,
    type: z.literal('oidc'),
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
  })
  .meta({ id: 'OidcIdentityProvider' });

const ldapProvider = z
  .object({
    ...shown,
    type: z.literal('ldap'),
    urls: z.array(z.string()),
    bind_dn: z.string(),
    has_bind_password: z.boolean(),
    user_base: z.string(),
    user_filter: z.string(),
    username_attribute: z.string(),
    subject_attribute: z.string(),
    group_base: z.string().nullable(),
    group_filter: z.string(),
    group_name_attribute: z.string(),
    nested_groups: z.boolean(),
  })
  .meta({ id: 'LdapIdentityProvider' });

export const identityProvider = z.union([oidcProvider, ldapProvider]).meta({ id: 'IdentityProvider' });
export type IdentityProviderAnswer = z.infer<typeof identityProvider>;

const providerTest = z
  .object({
    ok: z.boolean(),
    step: z
      .enum(['address', 'discovery', 'keys', 'client', 'connection', 'bind', 'users', 'groups', 'done'])
      .describe('The step that failed, or done'),
    message: z.string().describe('One sentence about the failure, or about what was found'),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'IdentityProviderTest' });
export type ProviderTestAnswer = z.infer<typeof providerTest>;

const providerUser = z.object({
  username: resourceId,
  subject: z
    .string()
    .min(1)
    .max(255)
    .describe('The user at the provider: claim sub, or the value of subject_attribute'),
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
const includeFields = [...new Set([...Object.keys(oidcProvider.shape), ...Object.keys(ldapProvider.shape)])];
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
      'Create an identity provider, or replace its settings; without client_secret or bind_password the stored one stays',
    body: newProvider,
    isNullRefused: true,
    status: 200,
    response: identityProvider,
    includeFields,
  },
  {
    id: 'getIdentityProviderById',
    method: 'GET',
    ...one,
    summary: 'One identity provider, without its secret',
    status: 200,
    response: identityProvider,
    includeFields,
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
    includeFields,
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

import { z } from 'zod';
import { defineRoutes } from '../route';
import { instant, resourceId } from './shapes';

const text = z.string().min(1).max(1024);
const MAX_RULES = 50;

/** Whose tokens a service account gets a token for. */
const trustRule = z.object({
  issuer: text.describe('https address of the issuer of the workload, as claim iss names it'),
  audience: text.describe('What claim aud must name'),
  subject: text.describe('What claim sub must be; a * at the end stands for any rest'),
  ca_certificate: z
    .string()
    .max(65_536)
    .nullable()
    .optional()
    .describe('PEM of the authority of the issuer, where it is none of the well-known ones'),
});
export type TrustRule = z.infer<typeof trustRule>;

const trust = z.array(trustRule).max(MAX_RULES);

const serviceAccount = z
  .object({
    name: z.string(),
    description: z.string(),
    role: z.string().describe('System role'),
    active: z.boolean(),
    trust,
    created_by: z.string(),
    created_at: instant,
  })
  .meta({ id: 'ServiceAccount' });
export type ServiceAccountAnswer = z.infer<typeof serviceAccount>;

const newAccount = z
  .object({
    name: resourceId,
    description: z.string().max(1024).optional(),
    role: z.string().optional().describe('System role; default: default'),
    tenants: z
      .array(z.object({ name: resourceId, role: text }))
      .max(500)
      .optional(),
    trust: trust.optional(),
  })
  .meta({ id: 'NewServiceAccount' });

const token = z
  .object({
    id: z.string(),
    value: z.string().describe('Shown this once'),
    description: z.string(),
    expiration_date: instant,
  })
  .meta({ id: 'ServiceAccountToken' });

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** RFC 8693, section 2.1, as JSON. */
const exchange = z
  .object({
    grant_type: z.literal(GRANT),
    subject_token: z.string().max(16_384).describe('JWT of the workload'),
    subject_token_type: z.enum([JWT, ID_TOKEN]),
    requested_token_type: z.literal(ACCESS_TOKEN).optional(),
    service_account: resourceId.describe('Service account that the workload wants to be'),
  })
  .meta({ id: 'TokenExchange' });

/** RFC 8693, section 2.2.1. */
const exchanged = z
  .object({
    access_token: z.string(),
    issued_token_type: z.literal(ACCESS_TOKEN),
    token_type: z.literal('N_A').describe('The token goes into the header Authentication-Token'),
    expires_in: z.number().int().describe('Seconds'),
  })
  .meta({ id: 'ExchangedToken' });

const shared = { owner: 'identity', tenant: 'none', versions: ['v3.1'], spec: 'Baton' } as const;
const params = z.object({ account_name: resourceId });

export const serviceAccountRoutes = defineRoutes([
  {
    id: 'listServiceAccounts',
    method: 'GET',
    path: '/service-accounts',
    permission: 'user_list',
    ...shared,
    summary: 'Service accounts: users for programs, without a password',
    status: 200,
    response: z.object({ items: z.array(serviceAccount) }),
  },
  {
    id: 'createServiceAccount',
    method: 'POST',
    path: '/service-accounts',
    permission: 'user_create',
    ...shared,
    summary: 'Create a service account, with its roles and the workloads that may be it',
    body: newAccount,
    status: 201,
    response: serviceAccount,
  },
  {
    id: 'getServiceAccount',
    method: 'GET',
    path: '/service-accounts/:account_name',
    params,
    permission: 'user_get',
    ...shared,
    summary: 'One service account',
    status: 200,
    response: serviceAccount,
  },
  {
    id: 'setServiceAccountTrust',
    method: 'PUT',
    path: '/service-accounts/:account_name/trust',
    params,
    permission: 'user_update',
    ...shared,
    summary: 'Replace the rules about the workloads that may be the service account',
    body: z.object({ trust }),
    status: 200,
    response: serviceAccount,
  },
  {
    id: 'deleteServiceAccount',
    method: 'DELETE',
    path: '/service-accounts/:account_name',
    params,
    permission: 'user_delete',
    ...shared,
    summary: 'Delete a service account; its tokens end',
    status: 204,
  },
  {
    id: 'createServiceAccountToken',
    method: 'POST',
    path: '/service-accounts/:account_name/tokens',
    params,
    permission: 'manage_others_tokens',
    ...shared,
    summary: 'Create a token of a service account; DELETE /tokens/{id} revokes it',
    body: z.object({
      description: text,
      expiration_date: z.string().describe('As POST /tokens, at most 366 days ahead'),
    }),
    status: 201,
    response: token,
  },
  {
    id: 'exchangeToken',
    method: 'POST',
    path: '/token-exchange',
    // The credential is the body.
    permission: 'none',
    ...shared,
    summary: 'Exchange the JWT of a workload for a token of a service account, valid for at most 15 minutes',
    body: exchange,
    status: 200,
    response: exchanged,
  },
]);

/** Login of a program by a person with a browser elsewhere: device authorization grant (RFC 8628), as JSON. */
import { z } from 'zod';
import { defineRoutes } from '../route';
import { instant } from './shapes';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** RFC 8628, section 3.1. Plain ASCII: the page shows the name to the person who is to decide. */
const request = z
  .object({
    client_name: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII')
      .describe('How the program calls itself, such as `baton on laptop`'),
  })
  .meta({ id: 'DeviceLoginRequest' });

/** RFC 8628, section 3.2. */
const begun = z
  .object({
    device_code: z.string().describe('Secret of the program, for POST /login/device/token'),
    user_code: z.string().describe('What the person compares, or enters on the page: BCDF-GHJK'),
    verification_uri: z.string(),
    verification_uri_complete: z
      .string()
      .describe('The page with the code in its fragment, which browsers send to no server'),
    expires_in: z.number().int().describe('Seconds'),
    interval: z.number().int().describe('Seconds to wait between two requests for the token'),
  })
  .meta({ id: 'BegunDeviceLogin' });

/** RFC 8628, section 3.4. */
const tokenRequest = z
  .object({
    grant_type: z.literal(GRANT).optional(),
    device_code: z.string().min(1).max(256),
  })
  .meta({ id: 'DeviceTokenRequest' });

const issued = z
  .object({
    access_token: z.string().describe('Shown this once'),
    token_type: z.literal('N_A').describe('The token goes into the header Authentication-Token'),
    expires_in: z.number().int().describe('Seconds'),
    token_id: z.string().describe('DELETE /tokens/{id} revokes the token'),
    username: z.string(),
    expiration_date: instant,
  })
  .meta({ id: 'DeviceToken' });

/** What a person must know to decide. */
const asked = z
  .object({
    user_code: z.string(),
    client_name: z.string().describe('How the program calls itself; nobody has checked it'),
    address: z.string().describe('Address that the request came from; of IPv6 its network'),
    is_same_address: z.boolean().describe('Whether the caller of this request has the same address'),
    created_at: instant,
    age_s: z.number().int(),
    expires_at: instant,
    state: z.enum(['pending', 'approved', 'denied']),
  })
  .meta({ id: 'AskedDeviceLogin' });
export type AskedDeviceLogin = z.infer<typeof asked>;

const shared = {
  owner: 'identity',
  tenant: 'none',
  versions: ['v3.1'],
  spec: 'Baton',
  isOpenInMaintenance: true,
} as const;

/**
 * Routes of the person who decides. The code stands in the body, never in a path: paths are in logs, in traces, and in the logs of
 * proxies in front of the manager.
 */
const ofCode = { ...shared, session: 'judges', status: 200, response: asked } as const;
const code = z.string().min(1).max(32).describe('In any letter case, with or without its dash');
const byCode = z.object({ user_code: code }).meta({ id: 'UserCode' });

export const deviceLoginRoutes = defineRoutes([
  {
    id: 'beginDeviceLogin',
    method: 'POST',
    path: '/login/device',
    ...shared,
    // A program that nobody has logged in asks for a login. Nothing of a user is changed, so there is nothing to audit.
    permission: 'none',
    session: 'asks',
    isNotAudited: true,
    summary: 'Ask for a login of a program, which a person approves with a browser',
    body: request,
    status: 200,
    response: begun,
  },
  {
    id: 'redeemDeviceLogin',
    method: 'POST',
    path: '/login/device/token',
    ...shared,
    // The credential is the body.
    permission: 'none',
    summary: 'Get the token of a login that was approved, once',
    body: tokenRequest,
    status: 200,
    response: issued,
  },
  {
    id: 'getDeviceLogin',
    method: 'POST',
    path: '/login/device/lookup',
    ...ofCode,
    permission: 'login',
    // It only reads.
    isNotAudited: true,
    summary: 'Which program asks for a login with this code, and from where',
    body: byCode,
  },
  {
    id: 'approveDeviceLogin',
    method: 'POST',
    path: '/login/device/approve',
    ...ofCode,
    permission: 'create_token',
    summary: 'Let the program be the user of this session; it gets a token',
    body: z
      .object({
        user_code: code,
        is_confirmed: z
          .literal(true)
          .describe('The user has compared the code with the one that the program shows'),
      })
      .meta({ id: 'DeviceLoginApproval' }),
  },
  {
    id: 'denyDeviceLogin',
    method: 'POST',
    path: '/login/device/deny',
    ...ofCode,
    permission: 'login',
    summary: 'Refuse the login; the program is told so',
    body: byCode,
  },
]);

import { hasPermission } from '@baton/contracts';
import { tokensRoutes } from '@baton/contracts/http/tokens';
import { type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { createOwnToken, createSessionToken, revokeToken } from '../commands/tokens';
import { type AuthenticateDeps, authenticateToken } from '../queries/authenticate';
import { forbidden } from '../queries/rights';
import { getToken, listTokens, ownerScope } from '../queries/tokens';
import type { DB as Tables } from '../store/tables.gen';
import type { WirePolicy } from './wire-policy';

export interface TokensDeps extends AuthenticateDeps {
  db: Db<Tables>;
  wire: WirePolicy;
  nowMs: () => Promise<number>;
}

export function tokensHttp(deps: TokensDeps): BoundRoute[] {
  const list = async (call: HttpCall) => {
    const page = listEnvelope(await listTokens(deps, call.principal, call.list), call.list);
    return wantsToken(call) ? { ...page, ...(await sessionToken(deps, call)) } : page;
  };
  return bindRoutes(tokensRoutes, {
    listTokens: list,
    obtainToken: list,
    createToken: async (call) => {
      const { description, expiration_date: expirationDate } = call.body;
      const { userId, username, role } = call.principal;
      const token = await createOwnToken(deps, userId, { description, expirationDate });
      return {
        id: token.id,
        username,
        value: token.value,
        role,
        description: token.description,
        expiration_date: token.expirationDate,
        last_used: null,
      };
    },
    getToken: (call) => getToken(deps, call.principal, call.params.token_id!),
    deleteToken: async (call) => {
      await revokeToken(deps, call.params.token_id!, ownerScope(call.principal));
    },
    checkMonitoringAccess: (call) => checkMonitoringAccess(deps, call),
  });
}

/**
 * Whether GET /tokens shall create a token. Clients of the specification obtain a token by a bare GET with a password; with any
 * list parameter, or with a token as the credential, the GET is only a list (reference/rest-api.md 2.3).
 */
function wantsToken(call: HttpCall): boolean {
  return call.principal.authMethod === 'http_basic' && !call.raw.url?.includes('?');
}

async function sessionToken(deps: TokensDeps, { principal }: HttpCall) {
  const token = await createSessionToken(deps, principal.userId);
  return {
    id: token.id,
    value: token.value,
    role: principal.role,
    username: principal.username,
    expiration_date: token.expirationDate,
  };
}

const COOKIE = /(?:^|;\s*)XSRF-TOKEN=([^;]*)/;

/**
 * Checks access for the monitoring pages behind a web proxy: browsers send the token in a cookie. Other credentials are for clients
 * without a browser, which the original refuses (reference/rest-api.md 5.30).
 */
async function checkMonitoringAccess(deps: TokensDeps, call: HttpCall): Promise<object> {
  const token = COOKIE.exec(call.headers.cookie ?? '')?.[1];
  const isKnown = call.principal.username !== '' && deps.wire.monitorsByAnyCredential;
  if (!token && !isKnown)
    throw new AppError('unauthorized_error', 'User unauthorized: No authentication info provided');
  const principal = token
    ? (await authenticateToken(deps, token, { tenant: '', allTenantsPermission: '' })).principal
    : call.principal;
  if (!hasPermission(principal, 'monitoring')) throw forbidden(principal, 'monitoring', '');
  return {};
}

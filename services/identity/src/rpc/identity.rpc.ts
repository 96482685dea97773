import { identityRpc, type Principal, type TenantLimits } from '@baton/contracts';
import { badParameter } from '@baton/kernel';
import { rpcPart } from '@baton/service-runtime';
import { defaultTenant } from '../domain/roles';
import {
  type AuthenticateDeps,
  authenticateBasic,
  authenticateSession,
  authenticateToken,
  type Bearer,
  principalOfUser,
  type Scope,
} from '../queries/authenticate';
import { getAuthorization } from '../queries/permissions';
import { limitsOfTenants, type QuotaDeps } from '../queries/quota';
import { listTenantNames } from '../queries/tenants';

export interface IdentityRpcDeps extends AuthenticateDeps, Pick<QuotaDeps, 'defaultLimits'> {
  /** How long gateways may reuse an answer without a message about a change, ms. */
  cacheMs: number;
}

export function identityRpcPart(deps: IdentityRpcDeps) {
  const answerOf = (
    principal: Principal,
    endsInMs: number | null = null,
  ): identityRpc.AuthenticateResponse => ({
    principal,
    cacheMs: deps.cacheMs,
    ...(endsInMs === null ? {} : { endsInMs: Math.max(0, Math.floor(endsInMs)) }),
  });
  return rpcPart(identityRpc.IdentityServiceDefinition, {
    authenticate: async (request) => {
      // v2.1 has no tenants: an empty tenant means the default one. The principal shows whether the user is a member.
      const tenant = request.tenant === '' && request.isLegacy ? defaultTenant : request.tenant;
      const { allTenantsPermission, isWatching } = request;
      const { principal, endsInMs } = await byCredential(deps, request, {
        tenant,
        allTenantsPermission,
        isWatching,
      });
      return answerOf(principal, endsInMs);
    },
    getPrincipal: async ({ username, tenant, allTenantsPermission, forExecution }) =>
      answerOf(await principalOfUser(deps, username, { tenant, allTenantsPermission }, forExecution)),
    listTenants: async () => ({ names: await listTenantNames(deps) }),
    listLimits: async () => ({
      defaults: sent(deps.defaultLimits),
      tenants: Object.fromEntries([...(await limitsOfTenants(deps))].map(([name, one]) => [name, sent(one)])),
    }),
    getAuthorization: async () => {
      const { roles, permissions } = await getAuthorization(deps);
      return { roles: roles.map((role) => ({ ...role, description: role.description ?? '' })), permissions };
    },
  });
}

/** Turns null into an absent field: on the wire, an absent field means no limit. */
const sent = (limits: Readonly<TenantLimits>): identityRpc.TenantLimits =>
  Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, value ?? undefined]));

/** Authenticates by the credential of the request. @throws AppError bad_parameters_error unless exactly one credential is given. */
async function byCredential(
  deps: IdentityRpcDeps,
  { username, password, token, session }: identityRpc.AuthenticateRequest,
  scope: Scope,
): Promise<Bearer> {
  const isBasic = username !== '' || password !== '';
  const given = [isBasic, token !== '', session !== ''].filter(Boolean);
  if (given.length !== 1) throw badParameter('token', 'Exactly one credential must be given');
  if (session !== '') return authenticateSession(deps, session, scope);
  if (!isBasic) return authenticateToken(deps, token, scope);
  return { principal: await authenticateBasic(deps, { username, password }, scope), endsInMs: null };
}

import { identityRpc, type Principal, type TenantLimits } from '@baton/contracts';
import { badParameter } from '@baton/kernel';
import { rpcPart } from '@baton/service-runtime';
import { defaultTenant } from '../domain/roles';
import {
  type AuthenticateDeps,
  authenticateBasic,
  authenticateToken,
  principalOfUser,
} from '../queries/authenticate';
import { getAuthorization } from '../queries/permissions';
import { limitsOfTenants, type QuotaDeps } from '../queries/quota';
import { listTenantNames } from '../queries/tenants';

export interface IdentityRpcDeps extends AuthenticateDeps, Pick<QuotaDeps, 'defaultLimits'> {
  /** How long gateways may reuse an answer when no message about a change reaches them, ms. */
  cacheMs: number;
}

export function identityRpcPart(deps: IdentityRpcDeps) {
  const answerOf = (principal: Principal): identityRpc.AuthenticateResponse => ({
    principal,
    cacheMs: deps.cacheMs,
  });
  return rpcPart(identityRpc.IdentityServiceDefinition, {
    authenticate: async (request) => {
      // v2.1 knows no tenants: the default one is meant. Whether the user is a member shows in the principal.
      const tenant = request.tenant === '' && request.isLegacy ? defaultTenant : request.tenant;
      const scope = { tenant, allTenantsPermission: request.allTenantsPermission };
      return answerOf(await byCredential(deps, request, scope));
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

/** On the wire what is absent is not limited. */
const sent = (limits: Readonly<TenantLimits>): identityRpc.TenantLimits =>
  Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, value ?? undefined]));

function byCredential(
  deps: IdentityRpcDeps,
  { username, password, token }: identityRpc.AuthenticateRequest,
  scope: { tenant: string; allTenantsPermission: string },
): Promise<Principal> {
  const isBasic = username !== '' || password !== '';
  if (isBasic === (token !== '')) throw badParameter('token', 'Exactly one credential must be given');
  return isBasic
    ? authenticateBasic(deps, { username, password }, scope)
    : authenticateToken(deps, token, scope);
}

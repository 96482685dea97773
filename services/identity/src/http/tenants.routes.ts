import { hasPermission } from '@baton/contracts';
import { tenantsRoutes } from '@baton/contracts/http/tenants';
import { type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import { type Db, outsideRequests } from '@baton/postgres';
import type { AuthorizationAt } from '../adapters/authorization-cache';
import type { TenantParts } from '../adapters/tenant-parts';
import { createTenant } from '../commands/create-tenant';
import { removeTenant } from '../commands/delete-tenant';
import { setQuota } from '../commands/set-quota';
import {
  addTenantMember,
  type Member,
  removeTenantMember,
  updateTenantMember,
} from '../commands/tenant-members';
import { getQuota, type QuotaDeps } from '../queries/quota';
import { forbidden, requirePermissionIn } from '../queries/rights';
import { getTenant, listTenants } from '../queries/tenants';
import type { DB as Tables } from '../store/tables.gen';

export interface TenantsDeps extends QuotaDeps {
  db: Db<Tables>;
  authorizationAt: AuthorizationAt;
  tenantParts: TenantParts;
  /** Starts the removal of removed tenants' leftovers, in the background. */
  kickClearing: () => void;
}

interface MemberBody {
  tenant_name: string;
  username?: string;
  group_name?: string;
  role?: string;
}

export function tenantsHttp(deps: TenantsDeps): BoundRoute[] {
  const change =
    (
      permission: string,
      run: (deps: TenantsDeps, tenant: string, who: Member, role: string) => Promise<void>,
    ) =>
    async (call: HttpCall<MemberBody>) => {
      const { tenant_name: tenant, role = '' } = call.body;
      await requirePermissionIn(deps, call.principal, permission, tenant);
      await run(deps, tenant, memberOf(call.body), role);
      return call.raw.method === 'DELETE' ? undefined : getTenant(deps, tenant, false);
    };
  return bindRoutes(tenantsRoutes, {
    listTenants: async (call) => {
      const getData = call.query._get_data === true;
      if (getData && !hasPermission(call.principal, 'tenant_list_get_data')) {
        throw forbidden(call.principal, 'tenant_list_get_data', call.principal.tenant);
      }
      return listEnvelope(await listTenants(deps, call.principal, call.list, getData), call.list);
    },
    getTenant: (call) => getTenant(deps, call.params.tenant_name!, call.query._get_data === true),
    getTenantQuota: (call) => getQuota(deps, call.params.tenant_name!),
    setTenantQuota: async (call) => {
      const tenant = call.params.tenant_name!;
      await setQuota(deps, tenant, call.body);
      return getQuota(deps, tenant);
    },
    createTenant: async (call) => {
      await createTenant(deps, call.params.name!);
      return getTenant(deps, call.params.name!, false);
    },
    deleteTenant: async (call) => {
      await removeTenant(deps, call.params.name!);
      outsideRequests(deps.kickClearing);
    },
    addTenantUser: change('tenant_add_user', addTenantMember),
    updateTenantUser: change('tenant_update_user', updateTenantMember),
    removeTenantUser: change('tenant_remove_user', removeTenantMember),
    addTenantGroup: change('tenant_add_group', addTenantMember),
    updateTenantGroup: change('tenant_update_group', updateTenantMember),
    removeTenantGroup: change('tenant_remove_group', removeTenantMember),
  });
}

function memberOf(body: MemberBody): Member {
  return body.group_name === undefined ? { username: body.username! } : { groupName: body.group_name };
}

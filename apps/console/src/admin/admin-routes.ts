/** Addresses of the administration, below /ui/{tenant}/admin. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../search-params';
import { tenantRoute } from '../tenant-route';
import { readConfigSearch, readRolesSearch } from './admin-search';
import { readAgentSearch } from './agents/agent-search';
import { readAuditSearch } from './audit/audit-search';

const parent = { getParentRoute: () => tenantRoute };

const usersRoute = createRoute({
  ...parent,
  path: '/admin/users',
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import('./users/users-screen'), 'UsersScreen'),
});
const userRoute = createRoute({
  ...parent,
  path: '/admin/users/$id',
  component: lazyRouteComponent(() => import('./users/user-screen'), 'UserScreen'),
});
const groupsRoute = createRoute({
  ...parent,
  path: '/admin/groups',
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import('./groups/groups-screen'), 'GroupsScreen'),
});
const groupRoute = createRoute({
  ...parent,
  path: '/admin/groups/$id',
  component: lazyRouteComponent(() => import('./groups/group-screen'), 'GroupScreen'),
});
const tenantsRoute = createRoute({
  ...parent,
  path: '/admin/tenants',
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import('./tenants/tenants-screen'), 'TenantsScreen'),
});
const tenantAdminRoute = createRoute({
  ...parent,
  path: '/admin/tenants/$id',
  component: lazyRouteComponent(() => import('./tenants/tenant-screen'), 'TenantScreen'),
});
const tokensRoute = createRoute({
  ...parent,
  path: '/admin/tokens',
  component: lazyRouteComponent(() => import('./tokens/tokens-screen'), 'TokensScreen'),
});
const providersRoute = createRoute({
  ...parent,
  path: '/admin/identity-providers',
  component: lazyRouteComponent(
    () => import('./identity-providers/identity-providers-screen'),
    'IdentityProvidersScreen',
  ),
});
const providerRoute = createRoute({
  ...parent,
  path: '/admin/identity-providers/$id',
  component: lazyRouteComponent(
    () => import('./identity-providers/identity-provider-screen'),
    'IdentityProviderScreen',
  ),
});
const accountsRoute = createRoute({
  ...parent,
  path: '/admin/service-accounts',
  component: lazyRouteComponent(
    () => import('./service-accounts/service-accounts-screen'),
    'ServiceAccountsScreen',
  ),
});
const accountRoute = createRoute({
  ...parent,
  path: '/admin/service-accounts/$id',
  component: lazyRouteComponent(
    () => import('./service-accounts/service-account-screen'),
    'ServiceAccountScreen',
  ),
});
const rolesRoute = createRoute({
  ...parent,
  path: '/admin/roles',
  validateSearch: readRolesSearch,
  component: lazyRouteComponent(() => import('./roles/roles-screen'), 'RolesScreen'),
});
const agentsRoute = createRoute({
  ...parent,
  path: '/admin/agents',
  validateSearch: readAgentSearch,
  component: lazyRouteComponent(() => import('./agents/agents-screen'), 'AgentsScreen'),
});
const agentRoute = createRoute({
  ...parent,
  path: '/admin/agents/$id',
  component: lazyRouteComponent(() => import('./agents/agent-screen'), 'AgentScreen'),
});
const snapshotsRoute = createRoute({
  ...parent,
  path: '/admin/snapshots',
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import('./snapshots/snapshots-screen'), 'SnapshotsScreen'),
});
const clusterRoute = createRoute({
  ...parent,
  path: '/admin/cluster',
  component: lazyRouteComponent(() => import('./cluster/cluster-screen'), 'ClusterScreen'),
});
const auditRoute = createRoute({
  ...parent,
  path: '/admin/audit',
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import('./audit/audit-screen'), 'AuditScreen'),
});
const maintenanceRoute = createRoute({
  ...parent,
  path: '/admin/maintenance',
  component: lazyRouteComponent(() => import('./maintenance/maintenance-screen'), 'MaintenanceScreen'),
});
const licenseRoute = createRoute({
  ...parent,
  path: '/admin/license',
  component: lazyRouteComponent(() => import('./license/license-screen'), 'LicenseScreen'),
});
const configRoute = createRoute({
  ...parent,
  path: '/admin/config',
  validateSearch: readConfigSearch,
  component: lazyRouteComponent(() => import('./config/config-screen'), 'ConfigScreen'),
});

export const adminRoutes = [
  usersRoute,
  userRoute,
  groupsRoute,
  groupRoute,
  tenantsRoute,
  tenantAdminRoute,
  providersRoute,
  providerRoute,
  accountsRoute,
  accountRoute,
  tokensRoute,
  rolesRoute,
  agentsRoute,
  agentRoute,
  snapshotsRoute,
  clusterRoute,
  auditRoute,
  maintenanceRoute,
  licenseRoute,
  configRoute,
] as const;

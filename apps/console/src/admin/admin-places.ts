/** Places of the administration in the navigation, each with the permission that its screen needs. */
import {
  Activity,
  Bot,
  Building2,
  Camera,
  Cpu,
  FileBadge,
  Fingerprint,
  History,
  KeySquare,
  ShieldCheck,
  SlidersHorizontal,
  User,
  Users,
  Wrench,
} from 'lucide-react';
import { t } from '../text/text';

export const ADMIN_PLACES = [
  { to: '/$tenant/admin/users', Icon: User, text: t.users.title, permission: 'user_list' },
  { to: '/$tenant/admin/groups', Icon: Users, text: t.groups.title, permission: 'user_group_list' },
  {
    to: '/$tenant/admin/tenants',
    Icon: Building2,
    text: t.tenants.title,
    permission: 'tenant_list_get_data',
  },
  {
    to: '/$tenant/admin/service-accounts',
    Icon: Cpu,
    text: t.serviceAccounts.title,
    permission: 'user_list',
  },
  {
    to: '/$tenant/admin/identity-providers',
    Icon: Fingerprint,
    text: t.identityProviders.title,
    permission: 'ldap_set',
  },
  { to: '/$tenant/admin/tokens', Icon: KeySquare, text: t.tokens.title, permission: 'token_get' },
  { to: '/$tenant/admin/roles', Icon: ShieldCheck, text: t.roles.title, permission: 'manager_config_get' },
  { to: '/$tenant/admin/cluster', Icon: Activity, text: t.cluster.title, permission: 'cluster_status_get' },
  { to: '/$tenant/admin/agents', Icon: Bot, text: t.agents.title, permission: 'agent_list' },
  { to: '/$tenant/admin/audit', Icon: History, text: t.audit.title, permission: 'audit_log_view' },
  { to: '/$tenant/admin/snapshots', Icon: Camera, text: t.snapshots.title, permission: 'snapshot_list' },
  {
    to: '/$tenant/admin/maintenance',
    Icon: Wrench,
    text: t.maintenance.title,
    permission: 'maintenance_mode_get',
  },
  { to: '/$tenant/admin/license', Icon: FileBadge, text: t.license.title, permission: 'license_list' },
  {
    to: '/$tenant/admin/config',
    Icon: SlidersHorizontal,
    text: t.config.title,
    permission: 'manager_config_get',
  },
] as const;

// Generated from services/identity/migrations by tools/gen-tables.mjs. Do not edit.

import type { ColumnType } from "kysely";

export type Generated<T> = T extends ColumnType<infer S, infer I, infer U>
  ? ColumnType<S, I | undefined, U>
  : ColumnType<T, T | undefined, T>;

export type Json = JsonValue;

export type JsonArray = JsonValue[];

export type JsonObject = {
  [x: string]: JsonValue | undefined;
};

export type JsonPrimitive = boolean | number | string | null;

export type JsonValue = JsonArray | JsonObject | JsonPrimitive;

export interface AuthorizationState {
  is_only: Generated<boolean>;
  revision: Generated<number>;
}

export interface DeviceCodeTries {
  began_at: Generated<string>;
  blocked_until: Generated<string>;
  count: number;
  user_id: number;
}

export interface DeviceLogins {
  address: string;
  approved_by: number | null;
  client_name: string;
  created_at: Generated<string>;
  expires_at: string;
  id: string;
  interval_s: number;
  last_polled_at: string | null;
  secret_hash: Buffer;
  state: Generated<string>;
  user_code_hash: Buffer;
}

export interface FormerTenants {
  clear_after: Generated<string>;
  cleared_at: string | null;
  name: string;
  removed_at: Generated<string>;
}

export interface IdentityProviders {
  ca_certificate: string | null;
  client_id: string;
  created_at: Generated<string>;
  groups_claim: string;
  id: string;
  is_enabled: Generated<boolean>;
  issuer: string;
  ldap: Json | null;
  mapping: Json;
  name: string;
  parameters: Generated<Json>;
  provision: string;
  scopes: string[];
  secret_sealed: Buffer | null;
  strip_suffix: string | null;
  type: string;
  username_claim: string;
}

export interface ImportFates {
  import_id: string;
  line: string;
  seq: Generated<number>;
}

export interface ImportMarks {
  applied_at: string | null;
  import_id: string;
  outcome: Json | null;
}

export interface ImportStaging {
  batch: number;
  import_id: string;
  records: string;
  tenant: string;
  type: string;
}

export interface Inbox {
  consumer: string;
  message_id: string;
  received_at: Generated<string>;
}

export interface Outbox {
  created_at: Generated<string>;
  envelope: Json;
  id: string;
}

export interface ProviderRoles {
  role: string;
  user_id: number;
}

export interface ProviderTenants {
  role: string;
  tenant: string;
  user_id: number;
}

export interface ProviderUsers {
  checked_at: string | null;
  groups: Generated<string[]>;
  next_check_at: Generated<string>;
  provider: string;
  refresh_sealed: Buffer | null;
  subject: string;
  user_id: number;
}

export interface RolePermissions {
  id: Generated<number>;
  permission: string;
  role: string;
}

export interface Roles {
  description: string | null;
  id: Generated<number>;
  name: string;
  type: string;
}

export interface SeededPermissions {
  permission: string;
}

export interface ServiceAccounts {
  created_at: Generated<string>;
  created_by: string;
  description: string;
  trust: Json;
  user_id: number;
}

export interface Sessions {
  created_at: Generated<string>;
  expires_at: string;
  id: string;
  last_used_at: Generated<string>;
  secret_hash: Buffer;
  user_id: number;
}

export interface SignInCodes {
  created_at: Generated<string>;
  expires_at: string;
  id: string;
  secret_hash: Buffer;
  user_id: number;
}

export interface SnapshotStaging {
  batch: number;
  restore_id: string;
  rows: string;
  table_name: string;
}

export interface SnapshotSwitches {
  restore_id: string;
  switched_at: Generated<string>;
}

export interface TenantGroups {
  group_name: string;
  role: string;
  tenant: string;
}

export interface TenantQuotas {
  max_deployments: number | null;
  max_queued_executions: number | null;
  max_requests_per_minute: number | null;
  max_running_executions: number | null;
  max_storage_bytes: number | null;
  tenant: string;
  worker_weight: number | null;
}

export interface Tenants {
  closing_since: string | null;
  created_at: Generated<string>;
  name: string;
}

export interface TenantUsers {
  role: string;
  tenant: string;
  user_id: number;
}

export interface Tokens {
  created_at: Generated<string>;
  description: string | null;
  expiration_date: string | null;
  id: string;
  is_session: Generated<boolean>;
  last_used: string | null;
  secret_hash: Buffer;
  user_id: number;
}

export interface UsedLoginStates {
  expires_at: string;
  state_hash: Buffer;
}

export interface UserGroupMembers {
  group_name: string;
  user_id: number;
}

export interface UserGroups {
  created_at: Generated<string>;
  ldap_dn: string | null;
  name: string;
  role: string;
}

export interface UserPreferences {
  preferences: Json;
  user_id: number;
}

export interface Users {
  active: Generated<boolean>;
  created_at: Generated<string>;
  failed_logins: Generated<number>;
  first_login_at: string | null;
  id: Generated<number>;
  last_failed_login_at: string | null;
  last_login_at: string | null;
  password_hash: string;
  role: string;
  show_getting_started: Generated<boolean>;
  username: string;
}

export interface UserViews {
  created_at: Generated<string>;
  is_shared: Generated<boolean>;
  name: string;
  query: string;
  screen: string;
  tenant: string;
  user_id: number;
}

export interface DB {
  authorization_state: AuthorizationState;
  device_code_tries: DeviceCodeTries;
  device_logins: DeviceLogins;
  former_tenants: FormerTenants;
  identity_providers: IdentityProviders;
  import_fates: ImportFates;
  import_marks: ImportMarks;
  import_staging: ImportStaging;
  inbox: Inbox;
  outbox: Outbox;
  provider_roles: ProviderRoles;
  provider_tenants: ProviderTenants;
  provider_users: ProviderUsers;
  role_permissions: RolePermissions;
  roles: Roles;
  seeded_permissions: SeededPermissions;
  service_accounts: ServiceAccounts;
  sessions: Sessions;
  sign_in_codes: SignInCodes;
  snapshot_staging: SnapshotStaging;
  snapshot_switches: SnapshotSwitches;
  tenant_groups: TenantGroups;
  tenant_quotas: TenantQuotas;
  tenant_users: TenantUsers;
  tenants: Tenants;
  tokens: Tokens;
  used_login_states: UsedLoginStates;
  user_group_members: UserGroupMembers;
  user_groups: UserGroups;
  user_preferences: UserPreferences;
  user_views: UserViews;
  users: Users;
}

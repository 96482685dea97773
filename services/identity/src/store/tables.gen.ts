/** Written by hand in the shape of kysely-codegen until tools/gen-tables makes it. */
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

type Timestamp = ColumnType<string, string | undefined, string>;
type NullableTimestamp = ColumnType<string | null, string | null | undefined, string | null>;

export interface Outbox {
  id: string;
  envelope: unknown;
  created_at: Timestamp;
}
export interface Inbox {
  consumer: string;
  message_id: string;
  received_at: Timestamp;
}
export interface Roles {
  id: GeneratedAlways<number>;
  name: string;
  type: string;
  description: string | null;
}
export interface RolePermissions {
  id: GeneratedAlways<number>;
  role: string;
  permission: string;
}
export interface SeededPermissions {
  permission: string;
}
export interface AuthorizationState {
  is_only: Generated<boolean>;
  revision: Generated<number>;
}
export interface Tenants {
  name: string;
  created_at: Timestamp;
  closing_since: NullableTimestamp;
}
export interface Users {
  id: Generated<number>;
  username: string;
  password_hash: string;
  role: string;
  active: Generated<boolean>;
  created_at: Timestamp;
  first_login_at: NullableTimestamp;
  last_login_at: NullableTimestamp;
  failed_logins: Generated<number>;
  last_failed_login_at: NullableTimestamp;
  show_getting_started: Generated<boolean>;
}
export interface UserGroups {
  name: string;
  ldap_dn: string | null;
  role: string;
  created_at: Timestamp;
}
export interface UserGroupMembers {
  user_id: number;
  group_name: string;
}
export interface TenantUsers {
  user_id: number;
  tenant: string;
  role: string;
}
export interface TenantGroups {
  group_name: string;
  tenant: string;
  role: string;
}
export interface Tokens {
  id: string;
  user_id: number;
  secret_hash: Buffer;
  description: string | null;
  expiration_date: NullableTimestamp;
  last_used: NullableTimestamp;
  created_at: Timestamp;
  is_session: Generated<boolean>;
}

export interface Tables {
  outbox: Outbox;
  inbox: Inbox;
  roles: Roles;
  role_permissions: RolePermissions;
  seeded_permissions: SeededPermissions;
  authorization_state: AuthorizationState;
  tenants: Tenants;
  users: Users;
  user_groups: UserGroups;
  user_group_members: UserGroupMembers;
  tenant_users: TenantUsers;
  tenant_groups: TenantGroups;
  tokens: Tokens;
}

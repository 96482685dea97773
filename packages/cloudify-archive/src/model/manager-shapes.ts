import { boolean, instant, name, names, namesByName, or, orNull, text } from './fields';
import type { Shape } from './shape';

/** Objects of the manager as a whole. */
export const MANAGER_SHAPES = {
  tenants: {
    key: ['name'],
    fields: { name },
    dropped: ['rabbitmq_password', 'rabbitmq_username', 'rabbitmq_vhost'],
  },
  permissions: { key: ['role', 'permission'], fields: { role: name, permission: name } },
  user_groups: {
    key: ['name'],
    fields: { name, ldap_dn: orNull(text), role: orNull(name), tenants: or(namesByName, {}) },
  },
  users: {
    key: ['username'],
    fields: {
      username: name,
      role: orNull(name),
      /** As passlib writes it: $pbkdf2-sha256$rounds$salt$digest. */
      password_hash: orNull(text),
      is_active: or(boolean, true),
      tenants: or(namesByName, {}),
      groups: or(names, []),
      created_at: orNull(instant),
      first_login_at: orNull(instant),
      last_login_at: orNull(instant),
      email: orNull(text),
      first_name: orNull(text),
      last_name: orNull(text),
      show_getting_started: or(boolean, false),
    },
    dropped: ['api_token_key', 'last_failed_login_at', 'failed_logins_counter'],
  },
} as const satisfies Record<string, Shape>;

/** What importers of identity read of records (packages/cloudify-archive, src/model). Other fields are ignored. */
import { z } from 'zod';
import { isName } from '../domain/checks';

const MAX_TENANTS = 10_000;
/** No control characters: PostgreSQL keeps no NUL, and nobody can see the others. */
const plain = (most: number) =>
  z
    .string()
    .max(most, `must have at most ${most} characters`)
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'must have no control characters');
const name = plain(256).refine(
  isName,
  'must be an ASCII letter, then at most 255 letters, digits, "-", ".", "_" or "~"',
);
const role = plain(256).min(1);
const tenants = z
  .record(plain(256), role)
  .refine((given) => Object.keys(given).length <= MAX_TENANTS, `must be at most ${MAX_TENANTS} tenants`)
  .default({});
const instant = z.iso.datetime({ offset: true }).nullish();

export const tenantRecord = z.object({ name });
export const permissionRecord = z.object({ role, permission: plain(256).min(1) });
export const groupRecord = z.object({
  name: name.refine((text) => text !== 'users', '`users` is not allowed as a user group name'),
  ldap_dn: plain(1024).nullish(),
  role: role.nullish(),
  tenants,
});
export const userRecord = z.object({
  username: name,
  role: role.nullish(),
  password_hash: plain(4096).nullish(),
  /** Salt of all hashes of the old manager; beside each hash, so that it is nowhere else. */
  password_salt: z.string().max(4096).nullish(),
  is_active: z.boolean().default(true),
  tenants,
  groups: z.array(plain(256)).max(MAX_TENANTS).default([]),
  created_at: instant,
  first_login_at: instant,
  last_login_at: instant,
  email: z.string().nullish(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  show_getting_started: z.boolean().default(false),
});

export type TenantRecord = z.output<typeof tenantRecord>;
export type GroupRecord = z.output<typeof groupRecord>;
export type UserRecord = z.output<typeof userRecord>;

import type { ArchiveRecord } from '@baton/cloudify-archive';
import type { Choice } from './choice';

interface Mapping {
  choice: Choice;
  /** Everything belongs to this user; null: to its owner in the archive. */
  owner: string | null;
  /** Salt of the password hashes; null: unknown. */
  passwordSalt: string | null;
}

/**
 * The item as it is staged: tenants under their names here, and owners as the options want them. A user gets `password_salt` beside the
 * hash.
 */
export function mappedItem(
  record: ArchiveRecord,
  { choice, owner, passwordSalt }: Mapping,
): ArchiveRecord['item'] & { password_salt?: string } {
  const { type, item } = record;
  if (type === 'tenants') return { ...item, name: choice.tenantOf(item.name)! };
  if (type === 'user_groups') return { ...item, tenants: renamed(item.tenants, choice) };
  if (type === 'users') {
    const salt = passwordSalt === null || item.password_hash === null ? {} : { password_salt: passwordSalt };
    return { ...item, tenants: renamed(item.tenants, choice), ...salt };
  }
  return owner !== null && 'created_by' in item ? { ...item, created_by: owner } : item;
}

/** Roles by tenant; where two tenants become one, the first role stays. */
function renamed(tenants: Record<string, string>, choice: Choice): Record<string, string> {
  const found: Record<string, string> = Object.create(null);
  for (const [tenant, role] of Object.entries(tenants)) {
    const here = choice.tenantOf(tenant);
    if (here !== null) found[here] ??= role;
  }
  return { ...found };
}

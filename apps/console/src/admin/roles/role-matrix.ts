/** Permissions with the roles that hold them, as rows. */
import type { Authorization } from '../../api/manager';

export interface PermissionRow {
  permission: string;
  roles: string[];
}

/**
 * Permissions whose names contain `text`, sorted by name; with `role`, only permissions of that role. Permissions that only the
 * original product's console uses (`widget_*`, `stage_*`) are left out.
 */
export function permissionRows(
  { permissions }: Authorization,
  text: string | undefined,
  role: string | undefined,
): PermissionRow[] {
  return Object.entries(permissions)
    .map(([permission, roles]) => ({ permission, roles }))
    .filter(({ permission }) => !/^(widget|stage)_/.test(permission))
    .filter(({ permission }) => !text || permission.includes(text.toLowerCase()))
    .filter(({ roles }) => !role || roles.includes(role))
    .sort((a, b) => a.permission.localeCompare(b.permission, 'en'));
}

/** Who gets at values: hidden ones are for their creator and the administrators of their tenant (reference 8.1). */
import { isAdministrator, type Principal } from '@baton/contracts';
import { AppError } from '@baton/kernel';

export interface Who {
  tenant: string;
  username: string;
  /** In the tenant of the request. */
  isAdministrator: boolean;
  /** Tenants beside it that are administered too; a manager here may be a plain user there. */
  administered: 'all' | readonly string[];
}

export interface Guarded {
  tenant: string;
  created_by: string;
  is_hidden_value: boolean;
}

export function whoOf(principal: Principal): Who {
  const isSystemAdmin = principal.isBootstrapAdmin || principal.role === 'sys_admin';
  return {
    tenant: principal.tenant,
    username: principal.username,
    isAdministrator: isAdministrator(principal),
    administered: isSystemAdmin
      ? 'all'
      : principal.tenants.filter((t) => t.roles.includes('manager')).map((t) => t.name),
  };
}

function isOwnerOrAdministrator(who: Who, secret: Guarded): boolean {
  if (secret.created_by === who.username || who.administered === 'all') return true;
  return (who.isAdministrator && secret.tenant === who.tenant) || who.administered.includes(secret.tenant);
}

export function maySeeValue(who: Who, secret: Guarded): boolean {
  return !secret.is_hidden_value || isOwnerOrAdministrator(who, secret);
}

/** Whether a secret that is not shown to `who` at all (private) or hidden stands in the way of writing. */
export function mayOverwrite(who: Who, secret: Guarded & { visibility: string }): boolean {
  return secret.visibility === 'private' ? isOwnerOrAdministrator(who, secret) : maySeeValue(who, secret);
}

/** @throws AppError forbidden_error */
export function requireValueAccess(principal: Principal, secret: Guarded & { key: string }): void {
  if (maySeeValue(whoOf(principal), secret)) return;
  throw new AppError(
    'forbidden_error',
    `User \`${principal.username}\` is not permitted to modify the hidden secret \`${secret.key}\``,
  );
}

/** Somebody else's secret may begin or cease to be hidden only by an administrator. @throws AppError forbidden_error */
export function requireHidingRight(principal: Principal, secret: Guarded & { key: string }): void {
  requireValueAccess(principal, { ...secret, is_hidden_value: true });
}

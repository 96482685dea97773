/** Access to values: a hidden value is for its creator and the administrators of its tenant (reference 8.1). */
import { isAdministrator, type Principal } from '@baton/contracts';
import { AppError } from '@baton/kernel';

export interface Who {
  tenant: string;
  username: string;
  /** In the tenant of the request. */
  isAdministrator: boolean;
  /** Other tenants that the user administers too; a manager of this tenant may be a plain user there. */
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

/** Returns whether `who` may overwrite a secret. Only its creator and administrators may overwrite a private or hidden one. */
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

/** Only the creator or an administrator may change whether a secret is hidden. @throws AppError forbidden_error */
export function requireHidingRight(principal: Principal, secret: Guarded & { key: string }): void {
  requireValueAccess(principal, { ...secret, is_hidden_value: true });
}

/** Visibility of resources (reference/rest-api.md 4.4): private < tenant < global. Pure; shared by the owners of resources. */
import { AppError, badParameter } from '@baton/kernel';
import { hasPermission, type Principal } from './principal';

export type Visibility = 'private' | 'tenant' | 'global';

const ORDER: Record<Visibility, number> = { private: 0, tenant: 1, global: 2 };

export function isWider(a: Visibility, b: Visibility): boolean {
  return ORDER[a] > ORDER[b];
}

function requireGlobal(principal: Principal): void {
  if (hasPermission(principal, 'create_global_resource')) return;
  throw new AppError(
    'forbidden_error',
    `User \`${principal.username}\` is not permitted to set the visibility global`,
    { field: 'visibility' },
  );
}

/**
 * Returns the visibility of a new resource; `private_resource: true` is the old notation for private.
 * @throws AppError bad_parameters_error when both are given, forbidden_error when global is not permitted.
 */
export function visibilityOfNew(
  principal: Principal,
  visibility: Visibility | undefined,
  isPrivate: boolean | undefined,
): Visibility {
  if (visibility !== undefined && isPrivate !== undefined) {
    throw badParameter('private_resource', 'private_resource and visibility cannot be given together', {
      expected: 'visibility alone',
    });
  }
  const chosen = visibility ?? (isPrivate ? 'private' : 'tenant');
  if (chosen === 'global') requireGlobal(principal);
  return chosen;
}

/**
 * Whether `wanted` differs from the current visibility.
 * @throws AppError illegal_action_error when it is narrower, forbidden_error when global is not permitted.
 */
export function widensVisibility(principal: Principal, current: Visibility, wanted: Visibility): boolean {
  if (wanted === current) return false;
  if (!isWider(wanted, current)) {
    throw new AppError(
      'illegal_action_error',
      `The visibility cannot be narrowed from ${current} to ${wanted}`,
      {
        field: 'visibility',
        expected: `at least ${current}`,
      },
    );
  }
  if (wanted === 'global') requireGlobal(principal);
  return true;
}

/** @throws AppError illegal_action_error when `tenant` is not the tenant of the request (global resources of other tenants). */
export function requireOwnTenant(principal: Principal, tenant: string, what: string): void {
  if (tenant === principal.tenant) return;
  throw new AppError(
    'illegal_action_error',
    `${what} is global and belongs to another tenant; it can be changed only there`,
  );
}

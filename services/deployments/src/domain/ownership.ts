import type { Principal } from '@baton/contracts';
import { hasPermission } from '@baton/contracts';
import { AppError, badParameter } from '@baton/kernel';

const DATE = /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}:\d{2}(?:\.\d+)?Z?)?$/;

/** Creation time and creator that a restore writes (reference/rest-api.md ch. 5): null = now, and the caller. */
export interface Ownership {
  /** ISO text for the database. */
  createdAt: string | null;
  createdBy: string;
  /** Whether `createdBy` was named by the caller and must be looked up. */
  isForeign: boolean;
}

/**
 * Reads created_at and created_by of a body.
 * @throws AppError forbidden_error without set_timestamp / set_owner; bad_parameters_error for a malformed date.
 */
export function ownershipOf(
  principal: Principal,
  body: { created_at?: string; created_by?: string },
): Ownership {
  if (body.created_at !== undefined) {
    requirePermission(principal, 'set_timestamp', 'created_at');
    if (!DATE.test(body.created_at) || Number.isNaN(Date.parse(utc(body.created_at)))) {
      throw badParameter('created_at', `created_at is not a date: ${body.created_at}`, {
        expected: 'YYYY-MM-DDThh:mm:ss.mmmZ',
      });
    }
  }
  const isForeign = body.created_by !== undefined && body.created_by !== principal.username;
  if (isForeign) requirePermission(principal, 'set_owner', 'created_by');
  return {
    createdAt: body.created_at === undefined ? null : utc(body.created_at),
    createdBy: body.created_by ?? principal.username,
    isForeign,
  };
}

/** Dates without a zone mean UTC. */
function utc(text: string): string {
  const iso = text.replace(' ', 'T');
  return iso.includes('T') && !iso.endsWith('Z') ? `${iso}Z` : iso;
}

function requirePermission(principal: Principal, permission: string, field: string): void {
  if (hasPermission(principal, permission)) return;
  throw new AppError('forbidden_error', `User \`${principal.username}\` is not permitted to set ${field}`, {
    field,
  });
}

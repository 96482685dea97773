import { AppError, badParameter } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { requireName } from '../domain/checks';
import type { DB as Tables } from '../store/tables.gen';
import { insertTenant } from '../store/tenants.sql';
import { announceChange } from './announce';

/** Paths below /tenants that are no tenants (reference/rest-api.md 2.8). */
const RESERVED = ['users', 'user-groups'];

/** @throws AppError bad_parameters_error; conflict_error when the tenant exists. */
export async function createTenant(deps: { db: Db<Tables> }, name: string): Promise<void> {
  requireName('tenant_name', name);
  if (RESERVED.includes(name))
    throw badParameter('tenant_name', `\`${name}\` is not allowed as a tenant name`);
  await deps.db.tx(async (tx) => {
    if (!(await insertTenant(tx, name)))
      throw new AppError('conflict_error', `Tenant \`${name}\` already exists`);
    // Gateways may remember that there is no such tenant.
    await announceChange(tx, '');
  });
}

import { AppError, badParameter } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { TenantParts } from '../adapters/tenant-parts';
import { requireName } from '../domain/checks';
import type { DB as Tables } from '../store/tables.gen';
import { forgetFormerTenant, insertTenant, isFormerTenant } from '../store/tenants.sql';
import { announceChange } from './announce';

/** Path segments below /tenants that are not names of tenants (reference/rest-api.md 2.8). */
const RESERVED = ['users', 'user-groups'];

/** Creates a tenant. @throws AppError bad_parameters_error; conflict_error when the tenant exists. */
export async function createTenant(
  deps: { db: Db<Tables>; tenantParts: TenantParts },
  name: string,
): Promise<void> {
  requireName('tenant_name', name);
  if (RESERVED.includes(name))
    throw badParameter('tenant_name', `\`${name}\` is not allowed as a tenant name`);
  // After a crash here the name is open in the services although no tenant has it: nobody can use it, and the next attempt
  // continues.
  if (await isFormerTenant(deps.db.query, name)) await deps.tenantParts.open(name, true);
  await deps.db.tx(async (tx) => {
    await forgetFormerTenant(tx, name);
    if (!(await insertTenant(tx, name)))
      throw new AppError('conflict_error', `Tenant \`${name}\` already exists`);
    // Gateways may have cached that the tenant does not exist.
    await announceChange(tx, '');
  });
}

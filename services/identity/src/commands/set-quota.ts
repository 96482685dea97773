import { quotaChanged } from '@baton/contracts';
import type { TenantQuotaChange } from '@baton/contracts/http/tenants';
import { notFound } from '@baton/kernel';
import { type Db, outbox } from '@baton/postgres';
import { writeQuota } from '../store/quotas.sql';
import type { DB as Tables } from '../store/tables.gen';
import { lockTenant } from '../store/tenants.sql';

/**
 * Sets the quotas of a tenant; quotas that `change` omits stay. The services that enforce them get a message, or read the change
 * within seconds without it.
 * @throws AppError not_found_error
 */
export async function setQuota(
  { db }: { db: Db<Tables> },
  tenant: string,
  change: TenantQuotaChange,
): Promise<void> {
  await db.tx(async (tx) => {
    if (!(await lockTenant(tx, tenant))) throw notFound('Tenant', tenant);
    await writeQuota(tx, tenant, change);
    await outbox.append(tx, quotaChanged, { tenant: '', key: tenant }, { tenant });
  });
}

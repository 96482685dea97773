import { quotaChanged } from '@baton/contracts';
import type { TenantQuotaChange } from '@baton/contracts/http/tenants';
import { notFound } from '@baton/kernel';
import { type Db, outbox } from '@baton/postgres';
import { writeQuota } from '../store/quotas.sql';
import type { DB as Tables } from '../store/tables.gen';
import { lockTenant } from '../store/tenants.sql';

/**
 * Sets what a tenant may have at most; what is left out stays. Whoever holds tenants to it hears of it by a message, or within
 * seconds without. @throws AppError not_found_error
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

import type { TenantLimits } from '@baton/contracts';
import type { TenantQuotaAnswer } from '@baton/contracts/http/tenants';
import { notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { ReadUsage } from '../adapters/tenant-usage';
import { limitsInForce, nothingSet } from '../domain/quota';
import { listQuotas, readQuota } from '../store/quotas.sql';
import type { DB as Tables } from '../store/tables.gen';
import { findTenant } from '../store/tenants.sql';

export interface QuotaDeps {
  db: Db<Tables>;
  /** Limits of tenants for which no quota is set. */
  defaultLimits: Readonly<TenantLimits>;
  usageOf: ReadUsage;
}

/** @throws AppError not_found_error */
export async function getQuota(deps: QuotaDeps, tenant: string): Promise<TenantQuotaAnswer> {
  const { query } = deps.db;
  if (!(await findTenant(query, tenant))) throw notFound('Tenant', tenant);
  const own = (await readQuota(query, tenant)) ?? nothingSet;
  const limits = limitsInForce(deps.defaultLimits, own);
  const usage = await deps.usageOf(tenant);
  return {
    tenant_name: tenant,
    max_deployments: {
      limit: limits.deployments,
      own: own.max_deployments,
      usage: usage.deployments,
    },
    max_running_executions: {
      limit: limits.runningExecutions,
      own: own.max_running_executions,
      usage: usage.running,
    },
    max_queued_executions: {
      limit: limits.queuedExecutions,
      own: own.max_queued_executions,
      usage: usage.queued,
    },
    max_storage_bytes: {
      limit: limits.storageBytes,
      own: own.max_storage_bytes,
      usage: usage.storageBytes,
    },
    max_requests_per_minute: {
      limit: limits.requestsPerMinute,
      own: own.max_requests_per_minute,
      // Requests are counted only for tenants with a limit on them.
      usage: limits.requestsPerMinute === null ? null : usage.requests,
    },
    worker_weight: own.worker_weight,
  };
}

/** Returns the limits, defaults included, of every tenant for which a quota is set. */
export async function limitsOfTenants({
  db,
  defaultLimits,
}: Pick<QuotaDeps, 'db' | 'defaultLimits'>): Promise<Map<string, TenantLimits>> {
  const quotas = await listQuotas(db.query);
  return new Map(quotas.map(({ tenant, ...own }) => [tenant, limitsInForce(defaultLimits, own)]));
}

import { AppError } from '@baton/kernel';

/** The limits of a tenant; null: no limit. identity stores them; the owners of the limited resources enforce them. */
export interface TenantLimits {
  deployments: number | null;
  /** Running executions, without those for which another execution waits. */
  runningExecutions: number | null;
  /** Executions that wait for a free place or their start time. */
  queuedExecutions: number | null;
  storageBytes: number | null;
  requestsPerMinute: number | null;
  /** Share of the tenant in the places of workers, relative to tenants of weight 1. Null: as each worker is configured. */
  workerWeight: number | null;
}

export const unlimited: Readonly<TenantLimits> = {
  deployments: null,
  runningExecutions: null,
  queuedExecutions: null,
  storageBytes: null,
  requestsPerMinute: null,
  workerWeight: null,
};

/** Smallest and largest weight: a larger one would keep other tenants out. */
export const leastWorkerWeight = 0.01;
export const mostWorkerWeight = 100;

/** Name of the limit as a field of GET and PUT /tenants/{name}/quota. */
export type QuotaName =
  | 'max_deployments'
  | 'max_running_executions'
  | 'max_queued_executions'
  | 'max_storage_bytes'
  | 'max_requests_per_minute';

export interface Reached {
  quota: QuotaName;
  tenant: string;
  limit: number;
  /** Present usage of the tenant, without this request. */
  usage: number;
  /** The counted thing, as in "at most 5 deployments". */
  what: string;
  /** The action that makes room, as in "delete some". */
  remedy: string;
  /** Seconds after which a new request may succeed; absent: only an action makes room. */
  retryAfterS?: number;
}

/** Makes the error for an exceeded quota: too_many_requests_error with limit, usage and remedy. */
export function quotaReached({ quota, tenant, limit, usage, what, remedy, retryAfterS }: Reached): AppError {
  const raise = `an administrator raises ${quota} with PUT /tenants/${tenant}/quota`;
  return new AppError(
    'too_many_requests_error',
    `Tenant \`${tenant}\` may have at most ${limit} ${what} and has ${usage}; ${remedy}, or ${raise}`,
    {
      quota,
      scope: 'tenant',
      tenant,
      limit,
      usage,
      what,
      expected: `at most ${limit} ${what}`,
      ...(retryAfterS === undefined ? {} : { retry_after: retryAfterS }),
    },
  );
}

const MINUTE_MS = 60_000;

/** Cache key under which gateways count the requests of a tenant in the minute of that time (epoch ms). */
export function requestsKey(tenant: string, nowMs: number): string {
  return `rate:tenant:${Math.floor(nowMs / MINUTE_MS)}:${tenant}`;
}

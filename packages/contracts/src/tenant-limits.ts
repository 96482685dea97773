import { AppError } from '@baton/kernel';

/** What a tenant may have at most; null: no limit. identity says it, whoever owns the things holds to it. */
export interface TenantLimits {
  deployments: number | null;
  /** Executions at work, without those that another execution waits for. */
  runningExecutions: number | null;
  /** Executions that wait for their turn or their time. */
  queuedExecutions: number | null;
  storageBytes: number | null;
  requestsPerMinute: number | null;
  /** Its part of the places of workers, beside tenants of weight 1. Null: as each worker is configured. */
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

/** Smallest and largest weight: more turns than that at a time would keep out others. */
export const leastWorkerWeight = 0.01;
export const mostWorkerWeight = 100;

/** How the field of GET and PUT /tenants/{name}/quota is called that says the limit. */
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
  /** What the tenant has, this request left out. */
  usage: number;
  /** What is counted, as in "at most 5 deployments". */
  what: string;
  /** What makes room, as in "delete some". */
  remedy: string;
  /** When asking again may be of use, in s; without it only somebody's doing helps. */
  retryAfterS?: number;
}

/** The refusal of what a tenant's quota does not allow: too_many_requests_error with limit, usage and how to go on. */
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

/** Key of the cache under which gateways count the requests of a tenant in the minute of that epoch ms. */
export function requestsKey(tenant: string, nowMs: number): string {
  return `rate:tenant:${Math.floor(nowMs / MINUTE_MS)}:${tenant}`;
}

import { type TenantLimits, unlimited } from '@baton/contracts';

/** The quotas that an administrator has set for a tenant. Null: not set; -1: no limit. */
export interface OwnQuota {
  max_deployments: number | null;
  max_running_executions: number | null;
  max_queued_executions: number | null;
  max_storage_bytes: number | null;
  max_requests_per_minute: number | null;
  worker_weight: number | null;
}

export const nothingSet: Readonly<OwnQuota> = {
  max_deployments: null,
  max_running_executions: null,
  max_queued_executions: null,
  max_storage_bytes: null,
  max_requests_per_minute: null,
  worker_weight: null,
};

const NO_LIMIT = -1;

/** Returns the limits in force for a tenant with the quotas `own`. */
export function limitsInForce(defaults: Readonly<TenantLimits>, own: Readonly<OwnQuota>): TenantLimits {
  const inForce = (value: number | null, usual: number | null): number | null =>
    value === null ? usual : value === NO_LIMIT ? null : value;
  return {
    deployments: inForce(own.max_deployments, defaults.deployments),
    runningExecutions: inForce(own.max_running_executions, defaults.runningExecutions),
    queuedExecutions: inForce(own.max_queued_executions, defaults.queuedExecutions),
    storageBytes: inForce(own.max_storage_bytes, defaults.storageBytes),
    requestsPerMinute: inForce(own.max_requests_per_minute, defaults.requestsPerMinute),
    workerWeight: own.worker_weight,
  };
}

/** Returns the limits of the configuration, where 0 means no limit. */
export function configuredLimits(config: {
  BATON_TENANT_MAX_DEPLOYMENTS: number;
  BATON_TENANT_MAX_RUNNING_EXECUTIONS: number;
  BATON_TENANT_MAX_QUEUED_EXECUTIONS: number;
  BATON_TENANT_MAX_STORAGE_BYTES: number;
  BATON_TENANT_MAX_REQUESTS: number;
}): TenantLimits {
  return {
    ...unlimited,
    deployments: config.BATON_TENANT_MAX_DEPLOYMENTS || null,
    runningExecutions: config.BATON_TENANT_MAX_RUNNING_EXECUTIONS || null,
    queuedExecutions: config.BATON_TENANT_MAX_QUEUED_EXECUTIONS || null,
    storageBytes: config.BATON_TENANT_MAX_STORAGE_BYTES || null,
    requestsPerMinute: config.BATON_TENANT_MAX_REQUESTS || null,
  };
}

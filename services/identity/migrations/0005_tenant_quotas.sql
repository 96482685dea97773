-- expand
-- What an administrator has set for one tenant. Null: as the manager's configuration says; -1: no limit.
create table tenant_quotas (
  tenant text primary key references tenants (name) on delete cascade,
  max_deployments bigint check (max_deployments >= -1),
  max_running_executions bigint check (max_running_executions >= -1),
  max_queued_executions bigint check (max_queued_executions >= -1),
  max_storage_bytes bigint check (max_storage_bytes >= -1),
  max_requests_per_minute bigint check (max_requests_per_minute >= -1),
  worker_weight double precision check (worker_weight > 0)
);

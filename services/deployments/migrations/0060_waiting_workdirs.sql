-- expand
-- Archives that came with a new deployment and are not in its working folder yet. Stored with the deployment, gone when the
-- catalog has unpacked them; what a crash leaves is unpacked by the loop unpack-workdirs.
create table waiting_workdirs (
  deployment_key bigint primary key references deployments (key) on delete cascade,
  -- The catalog unpacks it once.
  request_id uuid not null,
  archive bytea not null,
  created_at timestamptz not null default app_now()
);
-- Archives are packed already.
alter table waiting_workdirs alter column archive set storage external;

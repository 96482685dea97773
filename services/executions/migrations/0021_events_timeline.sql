-- contract: indexes are replaced by others, before 1.0; writers wait meanwhile
-- Pages of events deep in a list: what conditions of every list read lies in the index that gives the order, so that
-- skipping costs no look at the rows. The list of a tenant and that of everybody use the same one.
drop index events_list;
drop index events_of_deployment;
alter table events drop constraint events_pkey;
alter table events add primary key (created_at, storage_id) include (tenant, visibility, created_by, is_log);
create index events_of_deployment on events (deployment_id, created_at, storage_id)
  include (tenant, visibility, created_by, is_log);

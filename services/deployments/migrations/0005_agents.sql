-- expand
-- Agents as whoever installs them enters them. Deleted with the node instance that installed them.
create table agents (
  tenant text collate "C" not null,
  name text collate "C" not null,
  node_instance_id text collate "C" not null,
  state text not null,
  ip text,
  install_method text,
  system text,
  version text,
  rabbitmq_exchange text,
  created_by text not null,
  created_at timestamptz not null default app_now(),
  updated_at timestamptz,
  primary key (tenant, name),
  foreign key (node_instance_id, tenant) references node_instances (id, tenant) on delete cascade
);
create index agents_of_instance on agents (node_instance_id, tenant);

-- expand
-- Nodes that an administrator entered beside those that report themselves.
alter table managers
  add column public_ip text,
  add column edition text,
  add column fs_sync_node_id text,
  add column networks jsonb,
  add column ca_cert_content text,
  add column is_entered boolean not null default false;

-- expand
-- What removed tenants left in other services goes in the background: when to look next, and when nothing was left any more.
alter table former_tenants add column clear_after timestamptz not null default app_now();
alter table former_tenants add column cleared_at timestamptz;
create index former_tenants_to_clear on former_tenants (clear_after) where cleared_at is null;

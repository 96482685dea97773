-- expand
-- Names of removed tenants: services keep them closed, so that what was on its way when they went stays outside. A new
-- tenant of such a name is opened there first.
create table former_tenants (
  name text primary key,
  removed_at timestamptz not null default app_now()
);

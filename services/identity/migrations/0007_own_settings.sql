-- expand
-- What users set for themselves in the console.
create table user_preferences (
  user_id integer primary key references users (id) on delete cascade,
  preferences jsonb not null check (jsonb_typeof(preferences) = 'object')
);

-- Views of screens that users keep: in one tenant, shared with the others there or not.
create table user_views (
  user_id integer not null references users (id) on delete cascade,
  tenant text not null references tenants (name) on delete cascade,
  name text not null,
  screen text not null,
  query text not null,
  is_shared boolean not null default false,
  created_at timestamptz not null default app_now(),
  primary key (user_id, tenant, name)
);
create index user_views_tenant on user_views (tenant, name);

-- expand
-- Maintenance mode, license, configuration and provider context of the manager.

-- One row. Instants belong to the state: requested_at while not deactivated, activated_at while activated.
create table maintenance (
  is_only boolean primary key default true check (is_only),
  status text not null default 'deactivated' check (status in ('deactivated', 'activating', 'activated')),
  activation_requested_at timestamptz,
  activated_at timestamptz,
  requested_by text,
  check ((status = 'deactivated') = (activation_requested_at is null)),
  check ((status = 'deactivated') = (requested_by is null)),
  check ((status = 'activated') = (activated_at is not null))
);
insert into maintenance default values;

-- At most one row; a customer id that was entered by hand has no edition.
create table license (
  is_only boolean primary key default true check (is_only),
  id uuid not null,
  customer_id text not null,
  expiration_date timestamptz,
  license_edition text,
  trial boolean not null default false,
  cloudify_version text,
  capabilities jsonb,
  uploaded_at timestamptz not null default app_now()
);

-- Values that somebody has set; the others are as shipped (src/domain/config-items.ts).
create table config (
  scope text not null,
  name text not null,
  value jsonb not null,
  updated_at timestamptz not null default app_now(),
  updater_name text not null,
  primary key (scope, name)
);

create table provider_context (
  is_only boolean primary key default true check (is_only),
  name text not null,
  context jsonb not null
);
-- Every installation has one: clients read it when they take up a manager.
insert into provider_context (name, context) values ('provider', '{}');

-- Users of a community edition who registered. Number n of an organisation is its n-th contact.
create table contacts (
  id bigint generated always as identity primary key,
  organisation text not null,
  number integer not null,
  first_name text not null,
  last_name text not null,
  email text not null,
  phone text,
  created_at timestamptz not null default app_now(),
  unique (organisation, number)
);

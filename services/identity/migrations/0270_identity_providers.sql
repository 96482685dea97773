-- expand
-- Identity providers: where users of the organisation sign in.
create table identity_providers (
  id text primary key,
  type text not null,
  name text not null,
  issuer text not null,
  client_id text not null,
  -- Sealed by a key that is not in the database (src/providers/domain/sealed-text.ts).
  secret_sealed bytea,
  scopes text[] not null,
  -- Parameters of the authorization request besides those of the protocol: {"prompt": "consent"}
  parameters jsonb not null default '{}' check (jsonb_typeof(parameters) = 'object'),
  username_claim text not null,
  groups_claim text not null,
  strip_suffix text,
  -- {"format": 1, "rules": [{"group", "role", "tenants": [{"name", "role"}]}]}
  mapping jsonb not null check (jsonb_typeof(mapping) = 'object'),
  provision text not null check (provision in ('jit', 'preexisting')),
  ca_certificate text,
  is_enabled boolean not null default true,
  created_at timestamptz not null default app_now()
);

-- Users that belong to a provider. Who is not here is a local user.
create table provider_users (
  user_id integer primary key references users (id) on delete cascade,
  provider text not null references identity_providers (id),
  -- The user at the provider; names and addresses there may change hands, this never does.
  subject text not null,
  -- Groups as the provider told them last.
  groups text[] not null default '{}',
  -- Sealed; null: the provider gave none, or takes it no more.
  refresh_sealed bytea,
  checked_at timestamptz,
  -- From then on the next use of a session or token asks the provider again.
  next_check_at timestamptz not null default app_now(),
  unique (provider, subject)
);

-- System roles that the mapping of the provider gives, apart from those given by hand.
create table provider_roles (
  user_id integer not null references provider_users (user_id) on delete cascade,
  role text not null references roles (name) on delete cascade,
  primary key (user_id, role)
);

-- Roles in tenants that the mapping of the provider gives.
create table provider_tenants (
  user_id integer not null references provider_users (user_id) on delete cascade,
  tenant text not null references tenants (name) on delete cascade,
  role text not null references roles (name) on delete cascade,
  primary key (user_id, tenant, role)
);
create index provider_tenants_tenant on provider_tenants (tenant);

-- Attempts to sign in that have opened a session: none opens two.
create table used_login_states (
  state_hash bytea primary key,
  expires_at timestamptz not null
);
create index used_login_states_end on used_login_states (expires_at);

-- expand
-- Agents as remote workers: who they are (certificates), where they are connected, and what they shall be told.
-- `id` is the common name of the certificates. Null: an agent that was entered by the release before and never enrolled.
alter table agents add column id uuid;
alter table agents alter column id set default gen_random_uuid();
alter table agents
  -- In hexadecimal digits; null: not enrolled. The former certificate is good until the present one is used: an answer with a
  -- certificate may be lost.
  add column certificate_serial text,
  add column certificate_until timestamptz,
  add column certificate_authority uuid,
  add column former_serial text,
  add column former_until timestamptz,
  add column former_authority uuid,
  add column revoked_at timestamptz,
  -- Grows with each admission: of two streams the one with the lower number is stale.
  add column epoch bigint not null default 0,
  -- Gateway of the present stream; null: none.
  add column gateway_id text,
  -- Start of the present stream, or end of the last one.
  add column connected_since timestamptz,
  add column last_seen timestamptz,
  -- Random ids of the agent's present process and of the one before: one that comes back is a copy of the machine.
  add column process_id text,
  add column former_process text,
  -- AgentAbout of contracts, as told last.
  add column about jsonb,
  -- AgentSettings of contracts without its environment, which may hold secrets: it is sealed by the secrets service.
  add column settings jsonb,
  add column env_sealed bytea,
  add column settings_since timestamptz,
  -- When the authorities to trust were told last.
  add column told_at timestamptz,
  -- The part in an upgrade of the tenant's agents: waiting, ordered; null: none.
  add column wanted_version text,
  add column upgrade_state text,
  add column upgrade_since timestamptz,
  add column upgrade_told_at timestamptz;

-- One-time tokens and download links, as digests (SHA-256). A script is sealed under a key that follows from its link.
create table agent_enrolments (
  tenant text collate "C" not null,
  name text collate "C" not null,
  token_digest bytea not null unique,
  link_digest bytea not null unique,
  script bytea not null,
  created_at timestamptz not null default app_now(),
  expires_at timestamptz not null,
  -- SHA-256 of the public key that got a certificate for the token, and that certificate: the same request gets it again.
  used_for bytea,
  certificate text,
  primary key (tenant, name),
  foreign key (tenant, name) references agents (tenant, name) on delete cascade,
  check ((used_for is null) = (certificate is null))
);

-- Authorities that agents trust. `own` ones sign agents and the listener of agents; `given` ones are only trusted by agents.
create table agent_authorities (
  id uuid primary key,
  kind text not null check (kind in ('own', 'given')),
  -- PEM.
  certificate text not null,
  -- PEM, sealed by the secrets service.
  key_sealed bytea,
  created_at timestamptz not null default app_now(),
  expires_at timestamptz not null,
  -- A newer one of its kind is there: this one signs no agent any more.
  superseded_at timestamptz,
  retired_at timestamptz,
  check ((kind = 'own') = (key_sealed is not null))
);
-- However many replicas begin at once, there is one authority that signs agents.
create unique index agent_authorities_signing on agent_authorities (kind)
  where kind = 'own' and superseded_at is null and retired_at is null;

-- What the gateways serve.
create table agent_packages (
  platform text collate "C" not null,
  version text collate "C" not null,
  -- Of the file that is sent.
  sha256 text not null,
  size bigint not null,
  seen_at timestamptz not null default app_now(),
  primary key (platform, version)
);

-- The present or last upgrade of the agents of a tenant.
create table agent_upgrades (
  tenant text collate "C" primary key,
  version text not null,
  -- Agents at the beginning: a batch is a tenth of them.
  total integer not null,
  state text not null default 'running' check (state in ('running', 'done', 'stopped')),
  reason text,
  created_by text collate "C" not null,
  created_at timestamptz not null default app_now(),
  ended_at timestamptz
);

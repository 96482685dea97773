-- contract: a foreign key and a check on columns that are new and empty, before 1.0; writers wait meanwhile
-- Stores of secrets outside the manager (reference/rest-api.md 5.23, 8.1).
create table secrets_providers (
  tenant text not null,
  name text not null,
  type text not null check (type in ('local', 'vault', 'cloudify')),
  created_by text not null,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  created_at timestamptz not null default app_now(),
  updated_at timestamptz not null default app_now(),
  -- Connection parameters as JSON, sealed like the value of a secret (0001_secrets.sql).
  ciphertext bytea not null,
  wrapped_key bytea not null,
  master_key_id text not null,
  version integer not null,
  primary key (tenant, name)
);
create index secrets_providers_created on secrets_providers (tenant, created_at, name);
create index secrets_providers_global on secrets_providers (name) where visibility = 'global';

-- Null: the value lies here. Else what is sealed is JSON with the value (local) and the provider's options.
alter table secrets add column provider_tenant text, add column provider_name text;
alter table secrets add constraint secrets_provider foreign key (provider_tenant, provider_name) references secrets_providers (tenant, name);
alter table secrets add constraint secrets_provider_whole check ((provider_tenant is null) = (provider_name is null));
create index secrets_of_provider on secrets (provider_tenant, provider_name) where provider_name is not null;

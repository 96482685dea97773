-- expand
create table outbox (id uuid primary key, envelope jsonb not null, created_at timestamptz not null default app_now());
create table inbox (consumer text not null, message_id uuid not null, received_at timestamptz not null default app_now(), primary key (consumer, message_id));

create table secrets (
  tenant text not null,
  key text not null,
  created_by text not null,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  is_hidden_value boolean not null default false,
  created_at timestamptz not null default app_now(),
  updated_at timestamptz not null default app_now(),
  -- JSON schema of the value; null: the value is a text.
  schema json,
  -- The value under a key of its own (AES-256-GCM), that key under the master key `master_key_id`.
  ciphertext bytea not null,
  wrapped_key bytea not null,
  master_key_id text not null,
  -- Raised with every new value; bound into the encryption, so an older value cannot be put back.
  version integer not null,
  primary key (tenant, key)
);
create index secrets_created on secrets (tenant, created_at, key);
create index secrets_global on secrets (key) where visibility = 'global';
create index secrets_master_key on secrets (master_key_id);

-- expand
-- Public keys whose signatures a tenant trusts (docs/plugin-signatures.md).
create table plugin_keys (
  tenant text not null,
  name text not null,
  -- Ed25519, SPKI in PEM.
  public_key text not null,
  -- SHA256: and the digest of the raw key in base64.
  fingerprint text not null,
  state text not null default 'trusted' check (state in ('trusted', 'revoked')),
  created_by text not null,
  visibility text not null default 'tenant' check (visibility = 'tenant'),
  created_at timestamptz not null default app_now(),
  -- Of the last change of its state.
  changed_at timestamptz not null default app_now(),
  changed_by text not null,
  primary key (tenant, name),
  constraint plugin_keys_fingerprint unique (tenant, fingerprint)
);

-- A tenant without a row takes what the configuration of the manager says.
create table plugin_trust (
  tenant text primary key,
  visibility text not null default 'tenant' check (visibility = 'tenant'),
  requires_signature boolean not null,
  changed_at timestamptz not null default app_now(),
  changed_by text not null
);

-- Who has signed the package; null: nobody. The state follows the keys of the tenant of the plugin.
alter table plugins add column signer_fingerprint text;
alter table plugins add column signer_name text;
alter table plugins add column signer_state text
  constraint plugins_signer_state check (signer_state in ('trusted', 'unknown', 'revoked'));

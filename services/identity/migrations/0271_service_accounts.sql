-- expand
-- Users for programs: they have tokens and no password.
create table service_accounts (
  user_id integer primary key references users (id) on delete cascade,
  description text not null,
  -- {"format": 1, "rules": [{"issuer", "audience", "subject", "ca_certificate"}]}
  trust jsonb not null check (jsonb_typeof(trust) = 'object'),
  created_by text not null,
  created_at timestamptz not null default app_now()
);

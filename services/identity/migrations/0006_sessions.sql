-- expand
-- Sessions of browsers: the cookie holds id and secret.
create table sessions (
  id text primary key,
  user_id integer not null references users (id) on delete cascade,
  -- sha256 of the secret, as of tokens.
  secret_hash bytea not null,
  created_at timestamptz not null default app_now(),
  -- However much it is used.
  expires_at timestamptz not null,
  -- Written every few seconds; a session that was not used for long ends before.
  last_used_at timestamptz not null default app_now()
);
create index sessions_user on sessions (user_id, created_at);
create index sessions_end on sessions (expires_at);

-- Codes of sign-in links: each opens one session.
create table sign_in_codes (
  id text primary key,
  user_id integer not null references users (id) on delete cascade,
  secret_hash bytea not null,
  created_at timestamptz not null default app_now(),
  expires_at timestamptz not null
);
create index sign_in_codes_user on sign_in_codes (user_id);

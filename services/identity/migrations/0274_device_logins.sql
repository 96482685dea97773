-- expand
-- Logins that programs ask for, and people approve with a browser (RFC 8628). A row lives for ten minutes, or until its token is made.
create table device_logins (
  id text primary key,
  -- sha256 of the secret of the device code, as of tokens.
  secret_hash bytea not null,
  -- Keyed hash of the user code: its 35 bits could be guessed from a plain one.
  user_code_hash bytea not null,
  -- How the program calls itself, and the address that it asked from.
  client_name text not null,
  address text not null,
  state text not null default 'pending' check (state in ('pending', 'approved', 'denied')),
  -- The user whose token the program gets.
  approved_by integer references users (id) on delete cascade,
  -- Seconds that the program must wait between two requests for its token.
  interval_s integer not null,
  last_polled_at timestamptz,
  created_at timestamptz not null default app_now(),
  expires_at timestamptz not null,
  constraint device_logins_user_code unique (user_code_hash),
  constraint device_logins_approved check ((state = 'approved') = (approved_by is not null))
);
create index device_logins_address on device_logins (address);
create index device_logins_end on device_logins (expires_at);
create index device_logins_user on device_logins (approved_by);

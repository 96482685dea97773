-- expand
-- User codes that a user has entered and that were wrong: too many of them are slowed down.
create table device_code_tries (
  user_id integer primary key references users (id) on delete cascade,
  count integer not null,
  began_at timestamptz not null default app_now(),
  -- Until then every further code is refused unread.
  blocked_until timestamptz not null default app_now()
);
create index device_code_tries_begin on device_code_tries (began_at);

-- expand
-- Each worker is known by a key that it made itself, until somebody takes that back:
--   update executions.workers set revoked_at = app_now() where id = '...';
alter table workers add column public_key text;
alter table workers add column registered_at timestamptz;
alter table workers add column revoked_at timestamptz;
create index workers_revoked on workers (revoked_at) where revoked_at is not null;

-- expand
-- The refusal to leave the end of an execution gets an SQLSTATE of its own. It shared BT001 with the refusal of things in a tenant
-- that is being removed (packages/postgres/src/closed-tenants.ts), and was told to callers as that. A replica of the release before
-- knows BT002 as little as any other fault, and tells it as one.
create or replace function refuse_leaving_the_end() returns trigger language plpgsql as $$
begin
  if old.phase = 'ended' and new.status <> old.status
     and coalesce(current_setting('baton.is_resuming', true), '') <> 'yes' then
    raise exception 'execution % has ended as %', old.id, old.status using errcode = 'BT002';
  end if;
  return new;
end $$;

/** Users that belong to a provider, and the roles that its mapping gives them. */
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB as Tables } from '../../store/tables.gen';
import type { Grants } from '../domain/provider';

type Reader = Db<Tables>['query'] | Tx<Tables>;

/** Locks providers while their settings change, so that no sign-in reads a mapping that is being replaced. */
export async function lockProvider(tx: Tx<Tables>, id: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('identity-provider'), hashtext(${id}))`.execute(tx);
}

/** Waits for a change of the provider's settings; many sign-ins hold this lock at once. */
export async function holdProvider(tx: Tx<Tables>, id: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtext('identity-provider'), hashtext(${id}))`.execute(tx);
}

export interface ProviderUserRow {
  user_id: number;
  username: string;
  provider: string;
  subject: string;
  groups: string[];
  refresh_sealed: Buffer | null;
  /** When the provider has answered last, as text of PostgreSQL; null: never. */
  checked_at: string | null;
}

const columns = sql`pu.user_id, u.username, pu.provider, pu.subject, pu.groups, pu.refresh_sealed,
  pu.checked_at::text as checked_at`;
const from = sql`provider_users pu join users u on u.id = pu.user_id`;

export async function findBySubject(
  db: Reader,
  provider: string,
  subject: string,
): Promise<ProviderUserRow | undefined> {
  const { rows } = await sql<ProviderUserRow>`select ${columns} from ${from}
    where pu.provider = ${provider} and pu.subject = ${subject}`.execute(db);
  return rows[0];
}

/** Returns the name of the provider that the user belongs to; null for a local user. */
export async function providerOf(db: Reader, userId: number): Promise<string | null> {
  const { rows } = await sql<{
    provider: string;
  }>`select provider from provider_users where user_id = ${userId}`.execute(db);
  return rows[0]?.provider ?? null;
}

/** Returns the user at its provider; null for a local user. */
export async function subjectOf(db: Reader, userId: number): Promise<string | null> {
  const { rows } = await sql<{
    subject: string;
  }>`select subject from provider_users where user_id = ${userId}`.execute(db);
  return rows[0]?.subject ?? null;
}

/** @throws unique violation when the subject of the provider has a user already */
export async function insertProviderUser(
  tx: Tx<Tables>,
  row: { userId: number; provider: string; subject: string },
): Promise<void> {
  await sql`insert into provider_users (user_id, provider, subject)
    values (${row.userId}, ${row.provider}, ${row.subject})`.execute(tx);
}

/** Stores what the provider has just said, and when to ask again. */
export async function noteChecked(
  tx: Tx<Tables>,
  userId: number,
  said: { groups: readonly string[]; refreshSealed: Buffer | null; againMs: number },
): Promise<void> {
  await sql`update provider_users set groups = ${[...said.groups]}::text[], refresh_sealed = ${said.refreshSealed},
      checked_at = app_now(), next_check_at = app_now() + ${said.againMs}::float8 * interval '1 millisecond'
    where user_id = ${userId}`.execute(tx);
}

/**
 * Takes the check of a user for this process, when it is due: no other process takes it within `leaseMs`. Returns undefined when it
 * is not due, or another process has it.
 */
export async function takeCheck(
  db: Db<Tables>,
  userId: number,
  leaseMs: number,
): Promise<ProviderUserRow | undefined> {
  const { rows } = await sql<ProviderUserRow>`
    update provider_users pu set next_check_at = app_now() + ${leaseMs}::float8 * interval '1 millisecond'
    from users u where u.id = pu.user_id and pu.user_id = ${userId} and pu.next_check_at <= app_now()
    returning ${columns}`.execute(db.query);
  return rows[0];
}

/** Locks the user's row; returns whether the provider has told nothing newer than the row that was read. */
export async function isUnchanged(tx: Tx<Tables>, read: ProviderUserRow): Promise<boolean> {
  const { rows } = await sql`select from provider_users
    where user_id = ${read.user_id} and refresh_sealed is not distinct from ${read.refresh_sealed}
      and checked_at is not distinct from ${read.checked_at}::timestamptz for update`.execute(tx);
  return rows.length > 0;
}

/** Puts the next check off, because the provider could not be asked. */
export async function putOffCheck(db: Db<Tables>, userId: number, againMs: number): Promise<void> {
  await sql`update provider_users set next_check_at = app_now() + ${againMs}::float8 * interval '1 millisecond'
    where user_id = ${userId}`.execute(db.query);
}

/** Makes the check of every user of the provider due. */
export async function makeChecksDue(tx: Tx<Tables>, provider: string): Promise<void> {
  await sql`update provider_users set next_check_at = app_now() where provider = ${provider}`.execute(tx);
}

/** Replaces the roles that mappings give to these users. Tenants and roles that are gone are left out. */
export async function replaceGrants(
  tx: Tx<Tables>,
  users: readonly { userId: number; grants: Grants }[],
): Promise<void> {
  const ids = users.map(({ userId }) => userId);
  const system = users.flatMap(({ userId, grants }) => grants.systemRoles.map((role) => ({ userId, role })));
  const tenant = users.flatMap(({ userId, grants }) => grants.tenantRoles.map((one) => ({ userId, ...one })));
  await sql`delete from provider_roles where user_id = any(${ids}::integer[])`.execute(tx);
  await sql`delete from provider_tenants where user_id = any(${ids}::integer[])`.execute(tx);
  await sql`insert into provider_roles (user_id, role)
    select g.user_id, g.role from unnest(${system.map((g) => g.userId)}::integer[], ${system.map((g) => g.role)}::text[])
      as g (user_id, role) join roles r on r.name = g.role and r.type = 'system_role'`.execute(tx);
  await sql`insert into provider_tenants (user_id, tenant, role)
    select g.user_id, g.tenant, g.role
    from unnest(${tenant.map((g) => g.userId)}::integer[], ${tenant.map((g) => g.tenant)}::text[],
      ${tenant.map((g) => g.role)}::text[]) as g (user_id, tenant, role)
    join roles r on r.name = g.role and r.type = 'tenant_role'
    join (select name from tenants where closing_since is null for key share) t on t.name = g.tenant`.execute(
    tx,
  );
}

/** Returns users of the provider with the groups that it told last, by id upwards, after `afterId`. */
export async function usersOfProvider(
  tx: Tx<Tables>,
  provider: string,
  afterId: number,
  limit: number,
): Promise<{ user_id: number; groups: string[] }[]> {
  const { rows } = await sql<{ user_id: number; groups: string[] }>`select user_id, groups from provider_users
    where provider = ${provider} and user_id > ${afterId} order by user_id limit ${limit} for update`.execute(
    tx,
  );
  return rows;
}

/** Counts the users of each provider. */
export async function countProviderUsers(db: Reader): Promise<Map<string, number>> {
  const { rows } = await sql<{ provider: string; users: number }>`
    select provider, count(*)::integer as users from provider_users group by provider`.execute(db);
  return new Map(rows.map(({ provider, users }) => [provider, users]));
}

/**
 * Notes that the attempt with this state has opened a session; returns false when it did so before. `lifeMs`: after it, the attempt
 * is refused because it is over.
 */
export async function useState(tx: Tx<Tables>, stateHash: Buffer, lifeMs: number): Promise<boolean> {
  const done = await sql`insert into used_login_states (state_hash, expires_at)
    values (${stateHash}, app_now() + ${lifeMs}::float8 * interval '1 millisecond') on conflict do nothing`.execute(
    tx,
  );
  return done.numAffectedRows === 1n;
}

/** Deletes at most `limit` states of attempts that are over; returns their number. */
export async function deleteOldStates(db: Db<Tables>['query'], limit: number): Promise<number> {
  const done = await sql`delete from used_login_states where state_hash in (
    select state_hash from used_login_states where expires_at <= app_now() limit ${limit} for update skip locked)`.execute(
    db,
  );
  return Number(done.numAffectedRows);
}

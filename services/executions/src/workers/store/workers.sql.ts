import type { AnyQuery, Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';

type Query = Db<DB>['query'];

/** A worker that has not reported for this long counts as dead: a later process may have its id. */
const GONE_S = 20;

/** Result of a registration; `taken`: a process with another key lives under that id. */
export type Registration = 'registered' | 'taken' | 'revoked';

export async function registerWorker(
  db: Query,
  { workerId, publicKey }: { workerId: string; publicKey: string },
): Promise<Registration> {
  const { rows } = await sql<{ id: string }>`
    insert into workers (id, about, public_key, registered_at) values (${workerId}, '{}', ${publicKey}, app_now())
    on conflict (id) do update set public_key = excluded.public_key, registered_at = app_now(), last_seen = app_now()
      where workers.revoked_at is null and (workers.public_key is null or workers.public_key = excluded.public_key
        or workers.last_seen < app_now() - make_interval(secs => ${GONE_S}))
    returning id`.execute(db);
  if (rows.length > 0) return 'registered';
  return (await readWorkerKey(db, workerId)) === null ? 'revoked' : 'taken';
}

/** Registers an agent under its key, which replaces the one before at once. False when the agent was revoked. */
export async function registerAgent(
  db: Query,
  { workerId, publicKey }: { workerId: string; publicKey: string },
): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    insert into workers (id, about, public_key, registered_at) values (${workerId}, '{}', ${publicKey}, app_now())
    on conflict (id) do update set public_key = excluded.public_key, registered_at = app_now(), last_seen = app_now()
      where workers.revoked_at is null
    returning id`.execute(db);
  return rows.length > 0;
}

/** Returns the public key of a registered worker; null when there is none, or it was revoked. */
export async function readWorkerKey(db: Query, workerId: string): Promise<string | null> {
  const { rows } = await sql<{ public_key: string | null }>`
    select public_key from workers where id = ${workerId} and revoked_at is null`.execute(db);
  return rows[0]?.public_key ?? null;
}

/**
 * Revokes a worker: its calls are refused from now on. The first time of a revocation stays. False when there is no such worker;
 * an agent is revoked by its certificate, in deployments.
 */
export async function markRevoked(tx: Tx<DB>, workerId: string): Promise<boolean> {
  const { rows } = await sql`
    update workers set revoked_at = coalesce(revoked_at, app_now()) where id = ${workerId} and not starts_with(id, 'agent:') returning id`.execute(
    tx,
  );
  return rows.length > 0;
}

/** Returns the ids revoked in the last two days: a certificate issued before the revocation has ended by then. */
export async function revokedWorkers(db: AnyQuery): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workers where revoked_at > app_now() - interval '2 days'`.execute(db);
  return rows.map((row) => row.id);
}

/** Ends the leases of these workers now: the reaper gives the operations to others. */
export async function endLeasesOf(db: Query, workerIds: readonly string[]): Promise<void> {
  await sql`update tasks set lease_until = app_now() where id in (
    select id from tasks where worker_id = any(${[...workerIds]}) and state in ('sent', 'started')
      and lease_until > app_now() for update skip locked)`.execute(db);
}

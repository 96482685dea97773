import { type Db, jsonb, type Tx } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { CreateOptions, JobOutcome, JobState, RestoreOptions, SwitchPlan } from '../domain/snapshot-job';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

interface JobColumns {
  id: string;
  tenant: string;
  snapshot_id: string;
  execution_id: string | null;
  created_by: string;
  created_at: string;
  state: JobState;
  outcome: JobOutcome | null;
  plan: SwitchPlan | null;
  archive_digest: string | null;
  attempts: number;
}
export type CreateJob = JobColumns & { kind: 'create'; options: CreateOptions };
export type RestoreJob = JobColumns & { kind: 'restore'; options: RestoreOptions };
export type SnapshotJob = CreateJob | RestoreJob;

const columns = sql`id, kind, tenant, snapshot_id, execution_id, created_by, created_at, options, state, outcome, plan,
  archive_digest, attempts`;

export async function insertJob(
  tx: Tx<DB>,
  job: Pick<SnapshotJob, 'id' | 'kind' | 'tenant' | 'snapshot_id' | 'created_by' | 'options'>,
): Promise<void> {
  await sql`insert into snapshot_jobs (id, kind, tenant, snapshot_id, created_by, options)
    values (${job.id}, ${job.kind}, ${job.tenant}, ${job.snapshot_id}, ${job.created_by}, ${jsonb(job.options)})`.execute(
    tx,
  );
}

export async function setExecution(db: Reader, id: string, executionId: string): Promise<void> {
  await sql`update snapshot_jobs set execution_id = ${executionId} where id = ${id}`.execute(db);
}

/** Deletes a job that has no execution and must not get one, because its request was refused. */
export async function deleteJob(tx: Tx<DB>, id: string): Promise<void> {
  await sql`delete from snapshot_jobs where id = ${id} and execution_id is null`.execute(tx);
}

/** Leases the oldest unfinished job without a valid lease, for `leaseMs`. Skips rows that other processes are leasing. */
export async function leaseJob(db: Reader, owner: string, leaseMs: number): Promise<SnapshotJob | null> {
  const { rows } = await sql<SnapshotJob>`
    update snapshot_jobs set lease_owner = ${owner}, lease_until = ${after(leaseMs)},
      attempts = attempts + case when state = 'preparing' then 1 else 0 end
    where id = (select id from snapshot_jobs where state <> 'ended' and (lease_until is null or lease_until < app_now())
      order by created_at limit 1 for update skip locked)
    returning ${columns}`.execute(db);
  return rows[0] ?? null;
}

/** Extends the lease; false when another process has the job. */
export async function renewJob(db: Reader, id: string, owner: string, leaseMs: number): Promise<boolean> {
  const done = await sql`update snapshot_jobs set lease_until = ${after(leaseMs)}
    where id = ${id} and lease_owner = ${owner} and state <> 'ended'`.execute(db);
  return done.numAffectedRows === 1n;
}

/** Releases the job; it may be leased again after `pauseMs`. */
export async function releaseJob(db: Reader, id: string, owner: string, pauseMs: number): Promise<void> {
  await sql`update snapshot_jobs set lease_owner = null, lease_until = ${after(pauseMs)}
    where id = ${id} and lease_owner = ${owner}`.execute(db);
}

export interface JobChanges {
  state?: JobState;
  outcome?: JobOutcome;
  plan?: SwitchPlan;
  archive_digest?: string;
}

/** Moves a job on from the state `from` while `owner` has its lease; false when the state or the owner has changed. */
export async function advanceJob(
  tx: Reader,
  of: { id: string; from: JobState; owner: string },
  changes: JobChanges,
): Promise<boolean> {
  const sets: RawBuilder<unknown>[] = [sql`attempts = attempts`];
  if (changes.state) sets.push(sql`state = ${changes.state}`);
  if (changes.outcome) sets.push(sql`outcome = ${jsonb(changes.outcome)}`);
  if (changes.plan) sets.push(sql`plan = ${jsonb(changes.plan)}`);
  if (changes.archive_digest) sets.push(sql`archive_digest = ${changes.archive_digest}`);
  const done = await sql`update snapshot_jobs set ${sql.join(sets)}
    where id = ${of.id} and state = ${of.from} and lease_owner = ${of.owner}`.execute(tx);
  return done.numAffectedRows === 1n;
}

/** Returns unfinished jobs; those of one snapshot when it is given. */
export async function openJobs(
  db: Reader,
  of?: { tenant: string; id: string },
): Promise<{ id: string; kind: 'create' | 'restore'; execution_id: string | null; is_dry_run: boolean }[]> {
  const which = of ? sql`tenant = ${of.tenant} and snapshot_id = ${of.id}` : sql`true`;
  const { rows } = await sql<{
    id: string;
    kind: 'create' | 'restore';
    execution_id: string | null;
    is_dry_run: boolean;
  }>`
    select id, kind, execution_id, coalesce(options ->> 'isDryRun' = 'true', false) as is_dry_run from snapshot_jobs where state <> 'ended' and ${which}`.execute(
    db,
  );
  return rows;
}

/** Serializes restores: a request for a restore takes this lock and holds it to the end of its transaction. */
export async function lockRestores(tx: Tx<DB>): Promise<void> {
  await sql`select pg_advisory_xact_lock(7236201)`.execute(tx);
}

const after = (ms: number): RawBuilder<unknown> => sql`app_now() + ${ms}::float8 * interval '1 millisecond'`;

import type { Principal } from '@baton/contracts';
import { AppError, newId, notFound } from '@baton/kernel';
import { isUniqueViolation } from '@baton/postgres';
import type { CreateOptions, RestoreOptions } from '../domain/snapshot-job';
import { visibleArchive } from '../queries/private-archives';
import { isRestoring } from '../queries/restores';
import {
  type CreateJob,
  deleteJob,
  insertJob,
  lockRestores,
  openJobs,
  type RestoreJob,
} from '../store/snapshot-jobs.sql';
import {
  deleteSnapshot,
  findSnapshot,
  insertSnapshot,
  noteLooseArchive,
  type SnapshotRow,
  type SnapshotStatus,
  type StoredArchive,
  setSnapshotStatus,
} from '../store/snapshots.sql';
import { startExecution } from './drive-job';
import type { SnapshotDeps } from './snapshot-deps';

const taken = (id: string): AppError =>
  new AppError('conflict_error', `Snapshot with ID \`${id}\` already exists`, { field: 'snapshot_id', id });

const NEW_JOB = {
  execution_id: null,
  state: 'waiting',
  outcome: null,
  plan: null,
  archive_digest: null,
  attempts: 0,
} as const;

/**
 * Accepts a snapshot: inserts the rows first, then starts the execution. After a crash between the two, the loop starts the job.
 * Returns the execution. @throws AppError conflict_error
 */
export async function requestCreation(
  deps: SnapshotDeps,
  principal: Principal,
  snapshotId: string,
  options: CreateOptions,
): Promise<Record<string, unknown>> {
  const { tenant, username } = principal;
  const job = {
    id: newId(),
    kind: 'create' as const,
    tenant,
    snapshot_id: snapshotId,
    created_by: username,
    options,
  };
  await deps.db
    .tx(async (tx) => {
      await insertSnapshot(tx, {
        tenant,
        id: snapshotId,
        status: 'creating',
        createdBy: username,
        archive: null,
      });
      await insertJob(tx, job);
    })
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? taken(snapshotId) : error;
    });
  const execution = await startExecution(deps, { ...NEW_JOB, ...job, created_at: '' } satisfies CreateJob);
  deps.kick();
  return execution;
}

/**
 * Accepts a restore. Only the administrator of the manager may request one. Unless it is a dry run, no execution may run: the
 * restore replaces the data that executions work on.
 * @throws AppError forbidden_error, snapshot_action_error, existing_running_execution_error, in_snapshot_restore_error
 */
export async function requestRestore(
  deps: SnapshotDeps,
  principal: Principal,
  snapshotId: string,
  options: RestoreOptions,
): Promise<Record<string, unknown>> {
  const snapshot = await visibleArchive(deps.db.query, principal, snapshotId, 'snapshots');
  if (!principal.isBootstrapAdmin)
    throw new AppError(
      'forbidden_error',
      'Only the administrator of the manager (admin) may restore a snapshot',
    );
  requireArchive(snapshot, 'restore');
  if (!options.isDryRun) await refuseWhileRunning(deps);
  const { tenant, username } = principal;
  const job = {
    id: newId(),
    kind: 'restore' as const,
    tenant,
    snapshot_id: snapshotId,
    created_by: username,
    options,
  };
  await deps.db.tx(async (tx) => {
    await lockRestores(tx);
    if ((await isRestoring(tx)) && !options.isDryRun)
      throw new AppError('in_snapshot_restore_error', 'Another snapshot is being restored');
    if (!(await findSnapshot(tx, tenant, snapshotId))) throw notFound('Snapshot', snapshotId);
    await insertJob(tx, job);
  });
  try {
    const execution = await startExecution(deps, { ...NEW_JOB, ...job, created_at: '' } satisfies RestoreJob);
    deps.kick();
    return execution;
  } catch (error) {
    // No client waits for this job: a restore that was reported as failed must not begin later.
    await deps.db.tx((tx) => deleteJob(tx, job.id));
    throw error;
  }
}

async function refuseWhileRunning(deps: SnapshotDeps): Promise<void> {
  const running = await deps.executions.unfinished();
  if (running.length === 0) return;
  const ids = running.map(({ id }) => id);
  throw new AppError(
    'existing_running_execution_error',
    `Cannot start execution because there are other executions running e.g.: ${ids.slice(0, 3).join(', ')}`,
    { executions: ids },
  );
}

/** @throws AppError snapshot_action_error */
export function requireArchive(
  snapshot: SnapshotRow,
  action: 'restore' | 'download' | 'import',
): StoredArchive {
  const { archive_digest: digest, archive_size: size, status } = snapshot;
  const isReady = status === 'created' || status === 'uploaded';
  if (isReady && digest !== null) return { digest, size: size! };
  throw new AppError(
    'snapshot_action_error',
    `Snapshot \`${snapshot.id}\` is ${status}: there is nothing to ${action}`,
    {
      status,
    },
  );
}

/** Creates the row of a snapshot whose archive is stored already. @throws AppError conflict_error */
export async function registerUpload(
  deps: Pick<SnapshotDeps, 'db'>,
  principal: Principal,
  id: string,
  archive: StoredArchive,
): Promise<void> {
  const { tenant, username } = principal;
  await deps.db
    .tx((tx) => insertSnapshot(tx, { tenant, id, status: 'uploaded', createdBy: username, archive }))
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? taken(id) : error;
    });
}

/** Checks that the id of a snapshot is free, before a long upload begins. @throws AppError conflict_error */
export async function requireFree(
  deps: Pick<SnapshotDeps, 'db'>,
  principal: Principal,
  id: string,
): Promise<void> {
  if (await findSnapshot(deps.db.query, principal.tenant, id)) throw taken(id);
}

/**
 * Deletes a snapshot and its archive. @throws AppError not_found_error, snapshot_action_error while it is being created or
 * restored.
 */
export async function removeSnapshot(
  deps: Pick<SnapshotDeps, 'db'>,
  principal: Principal,
  id: string,
): Promise<SnapshotRow> {
  const snapshot = await visibleArchive(deps.db.query, principal, id, 'snapshots');
  await deps.db.tx(async (tx) => {
    await lockRestores(tx);
    const jobs = await openJobs(tx, snapshot);
    if (jobs.length > 0)
      throw new AppError(
        'snapshot_action_error',
        `Snapshot \`${id}\` cannot be deleted: it is being ${jobs[0]!.kind === 'create' ? 'created' : 'restored'}`,
        { execution_id: jobs[0]!.execution_id },
      );
    const digest = await deleteSnapshot(tx, snapshot.tenant, id);
    if (digest) await noteLooseArchive(tx, digest, true);
  });
  return snapshot;
}

/**
 * Sets the status of a snapshot. @throws AppError not_found_error; snapshot_action_error for a status that needs an archive, or a
 * running job, where there is none: the snapshot would keep such a status for ever.
 */
export async function changeStatus(
  deps: Pick<SnapshotDeps, 'db'>,
  principal: Principal,
  id: string,
  status: SnapshotStatus,
  error: string,
): Promise<SnapshotRow> {
  const snapshot = await visibleArchive(deps.db.query, principal, id, 'snapshots');
  if (!(await deps.db.tx((tx) => setSnapshotStatus(tx, snapshot, status, error))))
    throw new AppError(
      'snapshot_action_error',
      status === 'creating'
        ? `Snapshot \`${id}\` is not being made and cannot become creating`
        : `Snapshot \`${id}\` has no archive and cannot become ${status}`,
      { field: 'status' },
    );
  return visibleArchive(deps.db.query, principal, id, 'snapshots');
}

import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { withTemporaryFolder } from '@baton/blob-store';
import { AppError } from '@baton/kernel';
import { PART_DEADLINE_MS } from '../adapters/snapshot-parts';
import { openZip } from '../adapters/zip-reader';
import { SWITCH_ORDER } from '../domain/snapshot-archive';
import type { JobOutcome } from '../domain/snapshot-job';
import { gatewaysActing } from '../store/instances.sql';
import type { CreateJob, RestoreJob, SnapshotJob } from '../store/snapshot-jobs.sql';
import { advanceJob } from '../store/snapshot-jobs.sql';
import { endCreation, findSnapshot, noteLooseArchive } from '../store/snapshots.sql';
import { makeArchive } from './make-archive';
import { discardAll, prepareRestore } from './prepare-restore';
import type { JobVoice, SnapshotDeps } from './snapshot-deps';
import { storeArchive } from './store-archive';

/** Pause between two checks whether the other executions have ended. */
const OTHERS_PAUSE_MS = 1_000;
/**
 * The longest wait for requests under way. A request that takes longer is ignored: its gateway refuses all other writes by then.
 */
const GATEWAYS_MS = 60_000;
const GATEWAYS_PAUSE_MS = 100;

/**
 * Makes and stores the archive, and ends the job. The digest is noted before the blob is stored, so the sweep finds the leftovers
 * of a crash; the next attempt makes a new archive.
 */
export async function createSnapshotArchive(
  deps: SnapshotDeps,
  job: CreateJob,
  voice: JobVoice,
): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    const path = join(folder, 'archive.zip');
    const { includeEvents, includeLogs } = job.options;
    const request = { executionId: job.execution_id!, includeEvents, includeLogs };
    const manifest = await makeArchive(deps, request, path, voice);
    voice.signal.throwIfAborted();
    const archive = await storeArchive(deps, createReadStream(path));
    await voice.say(`Stored ${archive.size} bytes, canonical hash ${manifest.hash}`);
    await deps.db.tx(async (tx) => {
      const outcome: JobOutcome = { status: 'terminated', error: '' };
      if (!(await advanceJob(tx, at(deps, job, 'preparing'), { state: 'cleaning', outcome }))) return;
      await endCreation(
        tx,
        { tenant: job.tenant, id: job.snapshot_id },
        { status: 'created', error: '', archive },
      );
    });
  });
}

/** Verifies, stages and rehearses the restore, then decides: a dry run ends, every other restore switches. */
export async function prepareSnapshotRestore(
  deps: SnapshotDeps,
  job: RestoreJob,
  voice: JobVoice,
): Promise<void> {
  const snapshot = await findSnapshot(deps.db.query, job.tenant, job.snapshot_id);
  if (!snapshot?.archive_digest)
    throw new AppError('snapshot_action_error', 'The snapshot has no archive any more');
  await waitForOthers(deps, job, voice);
  const content = await deps.blobs.open(snapshot.archive_digest);
  await withTemporaryFolder(async (folder) => {
    const path = join(folder, 'archive.zip');
    await pipeline(content, createWriteStream(path, { mode: 0o600 }), { signal: voice.signal });
    await voice.say(`Verifying the archive of ${job.snapshot_id}, ${(await stat(path)).size} bytes`);
    const zip = await openZip(path);
    try {
      const request = { restoreId: job.id, executionId: job.execution_id!, options: job.options };
      const plan = await prepareRestore(deps, zip, request, voice);
      if (job.options.isDryRun) {
        await voice.say('Dry run: the restore would succeed; nothing was changed');
        await decide(deps, job, { status: 'terminated', error: '' });
        return;
      }
      await waitForOthers(deps, job, voice);
      voice.signal.throwIfAborted();
      await advanceJob(deps.db.query, at(deps, job, 'preparing'), { state: 'switching', plan });
    } finally {
      await zip.close();
    }
  });
}

/**
 * Switches every service, one after the other; from here on the restore only goes forward. A failure or crash leaves the state as
 * it is, and the loop repeats the step until all services have switched. While a job is in this state, answers to process reports
 * say `restoring`; gateways then refuse every request that would change something. This holds also after a crash, until the last
 * service has switched.
 */
export async function switchServices(
  deps: SnapshotDeps,
  job: RestoreJob,
  signal: AbortSignal,
): Promise<void> {
  await waitForGateways(deps, true, signal);
  for (const service of SWITCH_ORDER) {
    const request = job.plan?.[service];
    if (request) await deps.parts[service].switch(request, { deadlineMs: PART_DEADLINE_MS });
  }
  await decide(deps, job, { status: 'terminated', error: '' });
}

/**
 * Waits until every living gateway refuses writes and has none under way; with `isRestoring` false, until all accept writes
 * again.
 */
async function waitForGateways(
  deps: SnapshotDeps,
  isRestoring: boolean,
  signal?: AbortSignal,
): Promise<void> {
  const untilMs = deps.clock.now() + GATEWAYS_MS;
  for (;;) {
    const waiting = await gatewaysActing(deps.db.query, !isRestoring);
    if (waiting.length === 0) return;
    if (deps.clock.now() >= untilMs) {
      deps.log.warn({ gateways: waiting, isRestoring }, 'gateways do not follow the restore of a snapshot');
      return;
    }
    await pause(GATEWAYS_PAUSE_MS, undefined, { signal });
  }
}

/** Runs after the decision: removes leftovers and ends the execution. Every step may be repeated. */
export async function cleanUp(deps: SnapshotDeps, job: SnapshotJob): Promise<void> {
  if (job.kind === 'restore') {
    await discardAll(deps, job.id);
    // A client that sees the ended execution may write at once, so gateways must accept writes before that.
    if (job.plan) await waitForGateways(deps, false);
  }
  const { status, error } = job.outcome!;
  if (job.kind === 'create' && status !== 'terminated') {
    const reason = status === 'cancelled' ? 'Its execution was cancelled' : error;
    await deps.db.tx((tx) =>
      endCreation(
        tx,
        { tenant: job.tenant, id: job.snapshot_id },
        { status: 'failed', error: reason, archive: null },
      ),
    );
  }
  if (job.archive_digest) await noteLooseArchive(deps.db.query, job.archive_digest, true);
  if (job.execution_id)
    await deps.executions.report({ executionId: job.execution_id, end: { status, error } });
  await advanceJob(deps.db.query, at(deps, job, 'cleaning'), { state: 'ended' });
}

/** Stores the outcome of a job, unless the outcome was decided before or another process holds the job. */
export async function decide(deps: SnapshotDeps, job: SnapshotJob, outcome: JobOutcome): Promise<void> {
  await advanceJob(deps.db.query, at(deps, job, job.state), { state: 'cleaning', outcome });
}

const at = (deps: SnapshotDeps, job: SnapshotJob, from: SnapshotJob['state']) => ({
  id: job.id,
  from,
  owner: deps.instanceId,
});

/** Waits for the executions that existed before the restore, at most `timeout` seconds. New executions queue behind the restore. */
async function waitForOthers(deps: SnapshotDeps, job: RestoreJob, { signal, say }: JobVoice): Promise<void> {
  const untilMs = deps.clock.now() + job.options.timeoutS * 1000;
  for (let isTold = false; ; isTold = true) {
    const others = (await deps.executions.unfinished()).filter(({ id }) => id !== job.execution_id);
    const running = others.filter(({ workflowId }) => workflowId !== 'restore_snapshot');
    if (running.length === 0 || job.options.isDryRun) return;
    if (deps.clock.now() >= untilMs)
      throw new AppError(
        'existing_running_execution_error',
        `Other executions are running, e.g. ${running
          .map(({ id }) => id)
          .slice(0, 3)
          .join(', ')}`,
      );
    if (!isTold) await say(`Waiting for ${running.length} executions to end`);
    await pause(OTHERS_PAUSE_MS, undefined, { signal });
  }
}

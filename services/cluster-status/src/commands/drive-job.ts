import { type AppError, isAppError, newId } from '@baton/kernel';
import { MAX_ATTEMPTS } from '../domain/snapshot-job';
import {
  advanceJob,
  leaseJob,
  releaseJob,
  renewJob,
  type SnapshotJob,
  setExecution,
} from '../store/snapshot-jobs.sql';
import {
  cleanUp,
  createSnapshotArchive,
  decide,
  prepareSnapshotRestore,
  switchServices,
} from './carry-out-job';
import type { SnapshotDeps } from './snapshot-deps';

const LEASE_MS = 15_000;
/** Interval at which a working job renews its lease and checks for a cancel. */
const KEEP_MS = 1_000;
/** Pause before a job that cannot continue now is taken again. */
const RETRY_MS = 1_000;
/** Pause before the status is read again: the engine starts an execution that does not queue within milliseconds. */
const START_MS = 200;

class JobCancelled extends Error {}
class JobLost extends Error {}

/** Starts the execution of a job that has none; the same request id returns the same execution. */
export async function startExecution(deps: SnapshotDeps, job: SnapshotJob): Promise<Record<string, unknown>> {
  const { id, execution } = await deps.executions.start({
    tenant: job.tenant,
    requestId: job.id,
    createdBy: job.created_by,
    workflowId: job.kind === 'create' ? 'create_snapshot' : 'restore_snapshot',
    parameters: job.options.parameters,
    mayQueue: true,
    isDryRun: job.kind === 'restore' && job.options.isDryRun,
  });
  await setExecution(deps.db.query, job.id, id);
  return execution;
}

/**
 * Takes one step of the oldest job that no process holds. Returns the milliseconds until that job can continue; null when there
 * is no job. After a crash the lease of the job ends, and another replica repeats the step.
 */
export async function takeJobStep(deps: SnapshotDeps, stopping: AbortSignal): Promise<number | null> {
  const job = await leaseJob(deps.db.query, deps.instanceId, LEASE_MS);
  return job && (await driveJob(deps, job, stopping));
}

/**
 * Takes a leased job one step further and releases it. Each step may be repeated after a crash at any point of it. A job in
 * `switching` is repeated until it succeeds; in every earlier state a failure may end it. Returns the milliseconds until the job
 * can continue.
 */
async function driveJob(deps: SnapshotDeps, job: SnapshotJob, stopping: AbortSignal): Promise<number> {
  const keeper = keepJob(deps, job, stopping);
  try {
    const pauseMs = (await takeStep(deps, job, keeper.signal, keeper.say)) ?? 0;
    await releaseJob(deps.db.query, job.id, deps.instanceId, pauseMs);
    return pauseMs;
  } catch (error) {
    return await afterFailure(deps, job, keeper.signal.aborted ? keeper.signal.reason : error);
  } finally {
    await keeper.end();
  }
}

async function takeStep(
  deps: SnapshotDeps,
  job: SnapshotJob,
  signal: AbortSignal,
  say: (line: string) => Promise<void>,
): Promise<number | void> {
  switch (job.state) {
    case 'waiting':
      return await followStart(deps, job);
    case 'preparing':
      if (job.attempts > MAX_ATTEMPTS) {
        const error = `Given up: ${MAX_ATTEMPTS} attempts did not come to an end`;
        return await decide(deps, job, { status: 'failed', error });
      }
      return job.kind === 'create'
        ? await createSnapshotArchive(deps, job, { signal, say })
        : await prepareSnapshotRestore(deps, job, { signal, say });
    case 'switching':
      return job.kind === 'restore' ? await switchServices(deps, job, signal) : undefined;
    case 'cleaning':
      return await cleanUp(deps, job);
    case 'ended':
      return;
  }
}

/**
 * Waits for the engine, which decides when the execution starts: after others in the queue, at once, or never. Returns the
 * milliseconds until the next check.
 */
async function followStart(deps: SnapshotDeps, job: SnapshotJob): Promise<number> {
  if (job.execution_id === null) {
    await startExecution(deps, job);
    return 0;
  }
  const status = await deps.executions.report({ executionId: job.execution_id });
  const of = { id: job.id, from: 'waiting', owner: deps.instanceId } as const;
  if (status === 'started') await advanceJob(deps.db.query, of, { state: 'preparing' });
  else if (isCancel(status)) await decide(deps, job, { status: 'cancelled', error: '' });
  else if (isOver(status))
    await decide(deps, job, { status: 'failed', error: `Its execution ended as ${status || 'deleted'}` });
  else return status === 'pending' ? START_MS : RETRY_MS;
  return 0;
}

const isCancel = (status: string): boolean => status === 'cancelled' || status.endsWith('cancelling');
const isOver = (status: string): boolean => status === '' || status === 'terminated' || status === 'failed';

/** Releases the job, unless its lease was lost; returns the milliseconds until the job can continue. */
async function afterFailure(deps: SnapshotDeps, job: SnapshotJob, error: unknown): Promise<number> {
  if (error instanceof JobLost) return 0;
  const isBefore = job.state === 'waiting' || job.state === 'preparing';
  if (error instanceof JobCancelled && isBefore) {
    await decide(deps, job, { status: 'cancelled', error: '' });
    await releaseJob(deps.db.query, job.id, deps.instanceId, 0);
    return 0;
  }
  const mayPass = !isAppError(error) || error.entry.retryable;
  deps.log.warn({ jobId: job.id, state: job.state, err: error }, 'work on a snapshot failed');
  // A refusal is final; an error that may be temporary is retried, as after a crash.
  if (isBefore && (!mayPass || job.attempts >= MAX_ATTEMPTS))
    await decide(deps, job, { status: 'failed', error: (error as AppError).message });
  await releaseJob(deps.db.query, job.id, deps.instanceId, RETRY_MS);
  return RETRY_MS;
}

/** Renews the lease, checks for a cancel and writes log lines while a job works. */
function keepJob(deps: SnapshotDeps, job: SnapshotJob, stopping: AbortSignal) {
  const abort = new AbortController();
  const giveUp = (): void => abort.abort(stopping.reason);
  if (stopping.aborted) giveUp();
  stopping.addEventListener('abort', giveUp, { once: true });
  let looking: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    if (!(await renewJob(deps.db.query, job.id, deps.instanceId, LEASE_MS))) abort.abort(new JobLost());
    if (job.state !== 'preparing' || !job.execution_id) return;
    const status = await deps.executions.report({ executionId: job.execution_id });
    if (isCancel(status) || isOver(status)) abort.abort(new JobCancelled());
  };
  const timer = setInterval(() => {
    looking = looking
      .then(look)
      .catch((error: Error) => deps.log.debug({ reason: error.message }, 'not renewed'));
  }, KEEP_MS);
  return {
    signal: abort.signal,
    say: async (line: string) => {
      abort.signal.throwIfAborted();
      const log = { batchId: newId(), lines: [line] };
      await deps.executions.report({ executionId: job.execution_id!, log });
    },
    end: async () => {
      clearInterval(timer);
      stopping.removeEventListener('abort', giveUp);
      await looking;
    },
  };
}

import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { withTemporaryFolder } from '@baton/blob-store';
import type { Principal } from '@baton/contracts';
import { AppError, isoInstant, newId } from '@baton/kernel';
import { isUniqueViolation } from '@baton/postgres';
import { productVersion, underLease } from '@baton/service-runtime';
import { createZipWriter, type ZipWriter } from '../adapters/zip-writer';
import type { ConfigDefinition } from '../domain/config-items';
import { listConfig } from '../queries/config';
import { visibleArchive } from '../queries/private-archives';
import { readInstances } from '../store/instances.sql';
import {
  countAttempt,
  deleteLogBundle,
  endLogBundle,
  insertLogBundle,
  type LogBundleRow,
  leaseLogBundle,
  releaseLogBundle,
  renewLogBundle,
  setBundleExecution,
  setReported,
} from '../store/log-bundles.sql';
import { readManagers } from '../store/managers.sql';
import { noteLooseArchive } from '../store/snapshots.sql';
import type { SnapshotDeps } from './snapshot-deps';
import { storeArchive } from './store-archive';

export interface LogBundleDeps extends SnapshotDeps {
  definitions: readonly ConfigDefinition[];
}

/** The most attempts to make an archive; a crash begins a new attempt. */
const MAX_ATTEMPTS = 3;
const LEASE_MS = 15_000;
const LOOK_MS = 500;
/** Pause after an error of the platform. */
const RETRY_MS = 2_000;
const AT_ONCE = 0;

const README = `What this manager knows of what happened on it.

manager.json      version, hosts and processes with their checks
config.json       configuration; values for administrators only are masked
doctor.jsonl      findings of the doctor, none on a sound manager
executions.jsonl  executions of all tenants, without parameters
events.jsonl      events and log lines of executions, oldest first

Services write their own logs to standard output: the host, the container runtime or the log collector has them.
`;

/**
 * Accepts a log bundle (reference/rest-api.md 5.13): inserts the row first, then starts the execution. After a crash between the
 * two, the loop continues with the row. Returns the execution. @throws AppError conflict_error
 */
export async function requestLogBundle(
  deps: LogBundleDeps,
  principal: Principal,
  id: string,
): Promise<Record<string, unknown>> {
  const { tenant, username } = principal;
  const row = { tenant, id, created_by: username, job_id: newId() };
  await deps.db
    .tx((tx) => insertLogBundle(tx, row))
    .catch((error: unknown) => {
      if (!isUniqueViolation(error)) throw error;
      throw new AppError('conflict_error', `Log bundle with ID \`${id}\` already exists`, {
        field: 'log_bundle_id',
      });
    });
  const execution = await startExecution(deps, row);
  deps.kick();
  return execution;
}

async function startExecution(
  deps: LogBundleDeps,
  row: Pick<LogBundleRow, 'tenant' | 'id' | 'created_by' | 'job_id'>,
): Promise<Record<string, unknown>> {
  const { id, execution } = await deps.executions.start({
    tenant: row.tenant,
    requestId: row.job_id,
    createdBy: row.created_by,
    workflowId: 'create_log_bundle',
    parameters: { log_bundle_id: row.id },
    mayQueue: true,
    isDryRun: false,
  });
  await setBundleExecution(deps.db.query, row, id);
  return execution;
}

/** Deletes a log bundle and its archive. @throws AppError not_found_error; log_bundle_action_error while it is being made. */
export async function removeLogBundle(
  deps: LogBundleDeps,
  principal: Principal,
  id: string,
): Promise<LogBundleRow> {
  const bundle = await visibleArchive(deps.db.query, principal, id, 'log_bundles');
  await deps.db.tx(async (tx) => {
    if (!(await deleteLogBundle(tx, bundle)))
      throw new AppError('log_bundle_action_error', `Log bundle \`${id}\` is being made`, {
        execution_id: bundle.execution_id,
      });
    if (bundle.archive_digest) await noteLooseArchive(tx, bundle.archive_digest, true);
  });
  return bundle;
}

/**
 * Takes one step of the oldest log bundle that no process holds. Returns the milliseconds until the next check; null when there
 * is no bundle. After a crash the lease of the bundle ends, and another replica repeats the step.
 */
export async function takeLogBundleStep(deps: LogBundleDeps, stopping: AbortSignal): Promise<number | null> {
  const owner = `${deps.instanceId}/${newId()}`;
  const bundle = await leaseLogBundle(deps.db.query, owner, LEASE_MS);
  if (!bundle) return null;
  const renew = () => renewLogBundle(deps.db.query, bundle, owner, LEASE_MS);
  const lease = { leaseMs: LEASE_MS, renew, stopping, log: deps.log };
  const pauseMs = await underLease(lease, (signal) => driveLogBundle(deps, bundle, signal)).catch(
    (err: unknown) => {
      deps.log.warn({ logBundleId: bundle.id, err }, 'a log bundle waits');
      return RETRY_MS;
    },
  );
  await releaseLogBundle(deps.db.query, bundle, owner, pauseMs);
  return pauseMs;
}

/**
 * Takes a leased bundle one step further; returns the milliseconds until the next check. Every step may be repeated after a
 * crash; the archive is then made anew, and the archive of the first attempt is swept.
 */
async function driveLogBundle(
  deps: LogBundleDeps,
  bundle: LogBundleRow,
  signal: AbortSignal,
): Promise<number> {
  if (bundle.execution_id === null) {
    await startExecution(deps, bundle);
    return AT_ONCE;
  }
  if (bundle.outcome !== null) {
    const end = { status: bundle.outcome, error: bundle.error };
    await deps.executions.report({ executionId: bundle.execution_id, end });
    await setReported(deps.db.query, bundle);
    return AT_ONCE;
  }
  const status = await deps.executions.report({ executionId: bundle.execution_id });
  if (status === 'pending' || status === 'queued') return LOOK_MS;
  if (status !== 'started') {
    const isCancelled = status === 'cancelled' || status.endsWith('cancelling');
    const error = isCancelled
      ? 'Its execution was cancelled'
      : `Its execution ended as ${status || 'deleted'}`;
    await endLogBundle(deps.db.query, bundle, {
      outcome: isCancelled ? 'cancelled' : 'failed',
      error,
      archive: null,
    });
    return AT_ONCE;
  }
  await make(deps, bundle, signal);
  return AT_ONCE;
}

async function make(deps: LogBundleDeps, bundle: LogBundleRow, signal: AbortSignal): Promise<void> {
  if (bundle.attempts >= MAX_ATTEMPTS) {
    const error = `Given up: ${MAX_ATTEMPTS} attempts did not come to an end`;
    await endLogBundle(deps.db.query, bundle, { outcome: 'failed', error, archive: null });
    return;
  }
  await countAttempt(deps.db.query, bundle);
  await withTemporaryFolder(async (folder) => {
    const path = join(folder, 'bundle.zip');
    await writeBundle(deps, path, signal);
    const archive = await storeArchive(deps, createReadStream(path));
    await endLogBundle(deps.db.query, bundle, { outcome: 'terminated', error: '', archive });
  });
}

async function writeBundle(deps: LogBundleDeps, path: string, signal: AbortSignal): Promise<void> {
  const zip = createZipWriter(path);
  try {
    await addText(zip, 'README.txt', README);
    await addText(zip, 'manager.json', json(await managerFacts(deps)));
    await addText(zip, 'config.json', json(await listConfig(deps, { isAdministrator: false })));
    await addLogs(deps, zip, signal);
    await zip.finish();
  } catch (error) {
    zip.abort(error as Error);
    throw error;
  }
}

/** Adds the log files to the zip; the pieces of one file arrive one after the other. */
async function addLogs(deps: LogBundleDeps, zip: ZipWriter, signal: AbortSignal): Promise<void> {
  const open: { file: string; entry: ReturnType<ZipWriter['open']> }[] = [];
  for await (const { file, data } of deps.executions.logs(signal)) {
    signal.throwIfAborted();
    if (open[0]?.file !== file) {
      await open.pop()?.entry.end();
      open.push({ file, entry: zip.open(file) });
    }
    await open[0]!.entry.write(data);
  }
  await open.pop()?.entry.end();
}

async function managerFacts(deps: LogBundleDeps) {
  return {
    version: productVersion,
    created_at: isoInstant(deps.clock.now()),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    managers: await readManagers(deps.db.query),
    processes: await readInstances(deps.db.query),
  };
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

async function addText(zip: ZipWriter, name: string, text: string): Promise<void> {
  const entry = zip.open(name);
  await entry.write(Buffer.from(text, 'utf8'));
  await entry.end();
}

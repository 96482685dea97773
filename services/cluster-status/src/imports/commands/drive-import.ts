import { ArchiveRefused } from '@baton/cloudify-archive';
import { isAppError } from '@baton/kernel';
import { MAX_ATTEMPTS } from '../domain/import.machine';
import { advanceImport, type ImportRow, leaseImport, releaseImport, renewImport } from '../store/imports.sql';
import { applyAll, prepareApply, removeImport } from './apply-import';
import { checkArchive, discardRun } from './check-import';
import type { ImportDeps, ImportVoice } from './import-deps';

const LEASE_MS = 15_000;
/** Interval at which working code renews its lease. */
const KEEP_MS = 1_000;
/** Pause before an import that cannot go on now is taken again. */
const RETRY_MS = 1_000;

class ImportLost extends Error {}

/**
 * Takes one step of the oldest import that no process holds. Returns the milliseconds until it can go on; null when there is none.
 * After a crash the lease ends, and another replica repeats the step.
 */
export async function takeImportStep(deps: ImportDeps, stopping: AbortSignal): Promise<number | null> {
  const row = await leaseImport(deps.db.query, deps.instanceId, LEASE_MS);
  return row && (await driveImport(deps, row, stopping));
}

async function driveImport(deps: ImportDeps, row: ImportRow, stopping: AbortSignal): Promise<number> {
  const keeper = keepImport(deps, row, stopping);
  try {
    await takeStep(deps, row, keeper.voice);
    await releaseImport(deps.db.query, row.id, deps.instanceId, 0);
    return 0;
  } catch (error) {
    return await afterFailure(deps, row, keeper.voice.signal.aborted ? keeper.voice.signal.reason : error);
  } finally {
    await keeper.end();
  }
}

async function takeStep(deps: ImportDeps, row: ImportRow, voice: ImportVoice): Promise<void> {
  const at = { id: row.id, from: row.state, owner: deps.instanceId };
  switch (row.state) {
    case 'waiting':
      await advanceImport(deps.db.query, at, { state: 'checking', attempts: 0 });
      return;
    case 'checking': {
      refuseTooMany(row);
      const { plan: _, ...found } = await checkArchive(deps, row, voice);
      await discardRun(deps, row.run_id);
      const isRefused = found.verdict === 'refused';
      await advanceImport(deps.db.query, at, {
        ...found,
        state: isRefused ? 'refused' : 'checked',
        step: 'Checked',
        error: isRefused ? 'Objects are in the way; the report names them' : '',
      });
      return;
    }
    case 'preparing':
      refuseTooMany(row);
      await prepareApply(deps, row, voice);
      return;
    case 'applying':
      refuseTooMany(row);
      await applyAll(deps, row, voice);
      return;
    case 'deleting':
      await removeImport(deps, row);
      return;
    default:
      return;
  }
}

class GivenUp extends Error {}

function refuseTooMany({ attempts }: ImportRow): void {
  if (attempts > MAX_ATTEMPTS) throw new GivenUp(`Given up: ${MAX_ATTEMPTS} attempts did not come to an end`);
}

/** Ends the import or lets it try again, unless its lease was lost; returns the milliseconds until it can go on. */
async function afterFailure(deps: ImportDeps, row: ImportRow, error: unknown): Promise<number> {
  if (error instanceof ImportLost) {
    await releaseImport(deps.db.query, row.id, deps.instanceId, 0);
    return 0;
  }
  const at = { id: row.id, from: row.state, owner: deps.instanceId };
  const isRefused = error instanceof ArchiveRefused;
  const isFinal =
    isRefused ||
    error instanceof GivenUp ||
    (isAppError(error) && !error.entry.retryable && error.entry.http < 500);
  deps.log.warn({ importId: row.id, state: row.state, err: error }, 'work on an import failed');
  const mayEnd = row.state === 'checking' || row.state === 'preparing' || row.state === 'applying';
  if (mayEnd && (isFinal || row.attempts >= MAX_ATTEMPTS)) {
    await discardRun(deps, row.run_id);
    await advanceImport(deps.db.query, at, {
      state: isRefused && row.state !== 'applying' ? 'refused' : 'failed',
      ...(row.state === 'checking' ? { report_digest: null, verdict: isRefused ? 'refused' : null } : {}),
      step: '',
      error:
        isAppError(error) || isRefused || error instanceof GivenUp
          ? (error as Error).message
          : 'Internal error; see the log',
    });
    await releaseImport(deps.db.query, row.id, deps.instanceId, 0);
    return 0;
  }
  await releaseImport(deps.db.query, row.id, deps.instanceId, RETRY_MS);
  return RETRY_MS;
}

/** Renews the lease and shows the step while an import is worked on. */
function keepImport(deps: ImportDeps, row: ImportRow, stopping: AbortSignal) {
  const abort = new AbortController();
  const of = { id: row.id, state: row.state, owner: deps.instanceId };
  const giveUp = (): void => abort.abort(stopping.reason);
  if (stopping.aborted) giveUp();
  stopping.addEventListener('abort', giveUp, { once: true });
  let looking: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    const isKept = await renewImport(deps.db.query, of, LEASE_MS);
    // The step itself may have moved the row on already; then nothing reads the signal any more.
    if (!isKept) abort.abort(new ImportLost());
  };
  const timer = setInterval(() => {
    looking = looking
      .then(look)
      .catch((error: Error) => deps.log.debug({ reason: error.message }, 'not renewed'));
  }, KEEP_MS);
  const voice: ImportVoice = {
    signal: abort.signal,
    say: async (step) => {
      abort.signal.throwIfAborted();
      await advanceImport(deps.db.query, { id: row.id, from: row.state, owner: deps.instanceId }, { step });
    },
  };
  return {
    voice,
    end: async () => {
      clearInterval(timer);
      stopping.removeEventListener('abort', giveUp);
      await looking;
    },
  };
}

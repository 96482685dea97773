/** The background part of an asynchronous upload, under a lease on its row. */
import { isAppError, type Log, newId } from '@baton/kernel';
import { type Spool, spool } from '../archive/spool';
import { failingState, type UploadEvent, type UploadState, uploadMachine } from '../domain/upload.machine';
import { diagnosticLines, UploadFailure } from '../domain/upload-failure';
import { requireStorage } from '../store/storage.sql';
import { failUpload, type LeasedUpload, leaseUpload, moveUpload, renewLease } from '../store/uploads.sql';
import { announceUploadEnd } from './announce-upload-end';
import { locateMainFile, parseStored, unpackStored } from './prepare-blueprint';
import { storeLoose } from './store-loose';
import { download, recordUploaded, type UploadDeps } from './upload-blueprint';

export interface FinishDeps extends UploadDeps {
  log: Log;
  instanceId: string;
  leaseMs: number;
}

/** An upload is given up after it has crashed its process this many times. */
const MAX_ATTEMPTS = 3;

/** Another replica took the row, or the row was deleted: this run ends and stores nothing. */
class LeaseLost extends Error {}

interface Run {
  deps: FinishDeps;
  upload: LeasedUpload;
  owner: string;
  state: UploadState;
}

async function step(
  run: Run,
  event: UploadEvent,
  archive: { digest: string; size: number } | null = null,
): Promise<void> {
  const to = uploadMachine.next(run.state, event);
  if (to === null) throw new Error(`upload in state ${run.state} cannot take ${event}`);
  const isOurs = await run.deps.db.tx((tx) =>
    moveUpload(tx, run.upload.upload_id, run.owner, run.state, to, archive),
  );
  if (!isOurs) throw new LeaseLost();
  run.state = to;
}

async function obtain(run: Run): Promise<{ archive: Spool; stored: { digest: string; size: number } }> {
  const { deps, upload } = run;
  if (upload.archive_digest !== null) {
    const archive = await spool(
      (await deps.blobs.open(upload.archive_digest)) as AsyncIterable<Buffer>,
      deps.limits.maxArchiveBytes,
    );
    return { archive, stored: { digest: upload.archive_digest, size: archive.size } };
  }
  if (run.state === 'pending') await step(run, 'fetching');
  try {
    const archive = await download(deps, upload.archive_url ?? '');
    return { archive, stored: await storeLoose(deps, archive.stream()) };
  } catch (error) {
    throw new UploadFailure(
      'notFetched',
      `Failed to fetch the archive - ${(error as Error).message}`,
      {},
      [],
      { cause: error },
    );
  }
}

async function work(run: Run): Promise<void> {
  const { deps, upload } = run;
  const { archive, stored } = await obtain(run);
  try {
    if (run.state === 'uploading') await step(run, 'stored', stored);
    await unpackStored(deps, stored, archive);
    const mainFile = await locateMainFile(deps, stored.digest, upload.main_file_name);
    if (run.state === 'extracting') await step(run, 'unpacked');
    const prepared = await parseStored(deps, stored, mainFile, {
      tenant: upload.tenant,
      username: upload.created_by,
      isAdministrator: upload.is_by_administrator,
    });
    const creator = { username: upload.created_by, userId: upload.creator_id };
    const isOurs = await deps.db.tx(async (tx) => {
      const about = {
        tenant: upload.tenant,
        id: upload.id,
        uploadId: upload.upload_id,
        owner: run.owner,
        creator,
        labels: upload.requested_labels,
      };
      const isRecorded = await recordUploaded(tx, about, prepared);
      // The size of a downloaded archive is known only now; another attempt would find the same size.
      await requireStorage(tx, upload.tenant, deps.storageLimit(upload.tenant)).catch((error: unknown) => {
        if (!isAppError(error, 'insufficient_storage_error') || error.details.quota === undefined)
          throw error;
        throw new UploadFailure('notStored', error.message, error.details, [], { cause: error });
      });
      return isRecorded;
    });
    if (!isOurs) throw new LeaseLost();
  } finally {
    await archive.dispose();
  }
}

async function giveUp(run: Run, failure: UploadFailure): Promise<void> {
  const diagnostics = failure.diagnostics.length > 0 ? failure.diagnostics : null;
  const traceback = diagnostics === null ? failure.message : diagnosticLines(diagnostics.slice(0, 50));
  const to = failingState(run.state, failure.event);
  const fault = { error: failure.message, traceback, diagnostics };
  await run.deps.db.tx(async (tx) => {
    if (await failUpload(tx, run.upload.upload_id, run.owner, run.state, to, fault))
      await announceUploadEnd(tx, run.upload.upload_id);
  });
}

async function attempt(run: Run): Promise<void> {
  const { deps, upload } = run;
  const log = deps.log.child({ tenant: upload.tenant, blueprintId: upload.id, attempt: upload.attempts });
  const renewal = setInterval(() => {
    // A failed renewal is noticed when the next step finds the lease lost.
    renewLease(deps.db.query, upload.upload_id, run.owner, deps.leaseMs).catch((error: unknown) =>
      log.warn({ err: error }, 'lease of an upload not renewed'),
    );
  }, deps.leaseMs / 3);
  try {
    if (upload.attempts > MAX_ATTEMPTS)
      throw new UploadFailure('notParsed', `Given up after ${MAX_ATTEMPTS} attempts that did not end`);
    await work(run);
    log.info({}, 'blueprint uploaded');
  } catch (error) {
    if (error instanceof LeaseLost) log.warn({}, 'upload continued elsewhere');
    else if (error instanceof UploadFailure) {
      log.info({ reason: error.message }, 'blueprint upload failed');
      await giveUp(run, error);
    } else throw error;
  } finally {
    clearInterval(renewal);
  }
}

/**
 * Finishes one waiting upload; returns false when none waits. A fault of the platform (database, blob store) leaves the row, which
 * is leased again when this lease expires; the same after a crash.
 */
export async function finishUpload(deps: FinishDeps): Promise<boolean> {
  // Each run has its own owner token: a replica that lost a lease cannot mistake a later lease for its own.
  const owner = `${deps.instanceId}/${newId()}`;
  const upload = await leaseUpload(deps.db.query, owner, deps.leaseMs);
  if (upload === null) return false;
  await attempt({ deps, upload, owner, state: upload.state });
  return true;
}

/** PUT /blueprints/{id}: synchronous (all or nothing) or accepted for the background. */

import { blueprintRegistered, type FindUser, isAdministrator, type Principal } from '@baton/contracts';
import type { SafeFetch } from '@baton/http';
import { AppError, isoInstant, newId } from '@baton/kernel';
import { afterCommit, outbox, type Tx } from '@baton/postgres';
import { archiveKind } from '../archive/read-entries';
import { type Spool, spool } from '../archive/spool';
import { ArchiveRefused } from '../domain/entry-rules';
import { judgeRivals } from '../domain/rivals';
import { archiveFailure, failureError, UploadFailure } from '../domain/upload-failure';
import type { UploadRequest } from '../domain/upload-request';
import {
  findRivals,
  insertBlueprint,
  insertUses,
  lockBlueprintId,
  markUploaded,
  replaceLabels,
} from '../store/blueprints.sql';
import { requireStorage } from '../store/storage.sql';
import type { DB } from '../store/tables.gen';
import { failUpload } from '../store/uploads.sql';
import { announceUploadEnd, announceValidationEnd } from './announce-upload-end';
import { dropBlueprint } from './drop-blueprint';
import {
  locateMainFile,
  type PrepareDeps,
  type Prepared,
  parseStored,
  unpackStored,
} from './prepare-blueprint';
import { storeLoose } from './store-loose';

export interface UploadDeps extends PrepareDeps {
  fetch: SafeFetch;
  /** Longest download of an archive, ms. */
  downloadMs: number;
  findUser: FindUser;
  /** Wakes the loop that finishes asynchronous uploads. */
  kickUploads: () => void;
}

/** Reads the archive of the request; null when the request has none. */
export type ArchiveBody = (() => Promise<Spool>) | null;

export async function download(deps: UploadDeps, url: string, signal?: AbortSignal): Promise<Spool> {
  const limits = {
    maxBytes: deps.limits.maxArchiveBytes,
    totalMs: deps.downloadMs,
    field: 'blueprint_archive_url',
  };
  return spool(await deps.fetch(url, limits, signal), deps.limits.maxArchiveBytes);
}

async function refuseTaken(
  deps: UploadDeps,
  tenant: string,
  request: Pick<UploadRequest, 'id' | 'visibility'>,
): Promise<void> {
  judgeRivals(
    await findRivals(deps.db.query, tenant, request.id, request.visibility === 'global'),
    tenant,
    request.id,
  );
}

/** Inserts the row of a new upload, in place of a failed one of the same id. */
async function claimId(
  tx: Tx<DB>,
  principal: Principal,
  request: UploadRequest,
  row: {
    state: 'pending' | 'uploading' | 'parsing';
    archive: { digest: string; size: number } | null;
  },
): Promise<string> {
  await lockBlueprintId(tx, request.id);
  const failed = judgeRivals(
    await findRivals(tx, principal.tenant, request.id, request.visibility === 'global'),
    principal.tenant,
    request.id,
  );
  if (failed !== null) await dropBlueprint(tx, failed.tenant, failed.id);
  const uploadId = newId();
  await insertBlueprint(tx, {
    tenant: principal.tenant,
    id: request.id,
    uploadId,
    uploadExecutionId: newId(),
    createdAt: request.owner.createdAt,
    createdBy: request.owner.createdBy,
    creatorId: request.owner.creatorId,
    isByAdministrator: isAdministrator(principal),
    visibility: request.visibility,
    state: row.state,
    mainFileName: request.mainFileName,
    archiveDigest: row.archive?.digest ?? null,
    archiveSize: row.archive?.size ?? null,
    archiveUrl: request.url,
    requestedLabels: request.labels,
  });
  return uploadId;
}

/**
 * Ends an upload in `tx`: stores plan, labels and uses, and announces it. Returns false when the row no longer belongs to this run.
 */
export async function recordUploaded(
  tx: Tx<DB>,
  about: {
    tenant: string;
    id: string;
    uploadId: string;
    owner: string | null;
    creator: { username: string; userId: number };
    labels: UploadRequest['labels'];
  },
  prepared: Prepared,
): Promise<boolean> {
  if (!(await markUploaded(tx, about.uploadId, 'parsing', about.owner, prepared))) return false;
  await insertUses(tx, about.tenant, about.id, prepared.uses);
  await replaceLabels(tx, about.tenant, about.id, about.labels ?? prepared.labels, about.creator);
  const key = `${about.tenant}/${about.id}`;
  await outbox.append(
    tx,
    blueprintRegistered,
    { tenant: about.tenant, key },
    { blueprintId: about.id, digest: prepared.digest },
  );
  await announceUploadEnd(tx, about.uploadId);
  return true;
}

/** Reads the archive of a body. @throws AppError bad_parameters_error for an empty body */
async function present(body: ArchiveBody): Promise<Spool> {
  const archive = await body!();
  if (archive.size > 0) return archive;
  throw emptyBody();
}

const emptyBody = () =>
  new AppError('bad_parameters_error', 'No archive: the body is empty', {
    field: 'archive',
    expected: 'an archive as body, or blueprint_archive_url',
  });

async function prepareNow(
  deps: UploadDeps,
  principal: Principal,
  request: UploadRequest,
  body: ArchiveBody,
  signal?: AbortSignal,
): Promise<Prepared> {
  const archive = request.url === null ? await present(body) : await download(deps, request.url, signal);
  try {
    const stored = await storeLoose(deps, archive.stream());
    await unpackStored(deps, stored, archive);
    const importer = {
      tenant: principal.tenant,
      username: principal.username,
      isAdministrator: isAdministrator(principal),
    };
    const mainFile = await locateMainFile(deps, stored.digest, request.mainFileName);
    return await parseStored(deps, stored, mainFile, importer);
  } catch (error) {
    throw error instanceof UploadFailure ? failureError(error) : error;
  } finally {
    await archive.dispose();
  }
}

/**
 * Uploads a blueprint and returns when it is stored. A failure leaves nothing; a crash leaves loose blobs for the sweep.
 * @throws AppError conflict_error, invalid_blueprint_error with all diagnostics, bad_parameters_error, payload_too_large_error
 */
export async function uploadNow(
  deps: UploadDeps,
  principal: Principal,
  request: UploadRequest,
  body: ArchiveBody,
  signal?: AbortSignal,
): Promise<void> {
  await refuseTaken(deps, principal.tenant, request);
  const prepared = await prepareNow(deps, principal, request, body, signal);
  await deps.db.tx(async (tx) => {
    const archive = { digest: prepared.archiveDigest, size: prepared.archiveSize };
    const uploadId = await claimId(tx, principal, request, { state: 'parsing', archive });
    const creator = { username: request.owner.createdBy, userId: request.owner.creatorId };
    await recordUploaded(
      tx,
      { tenant: principal.tenant, id: request.id, uploadId, owner: null, creator, labels: request.labels },
      prepared,
    );
    await requireStorage(tx, principal.tenant, deps.storageLimit(principal.tenant));
  });
}

/** Checks a blueprint as an upload does, and stores nothing. @throws like uploadNow */
export async function validateNow(
  deps: UploadDeps,
  principal: Principal,
  request: UploadRequest,
  body: ArchiveBody,
  signal?: AbortSignal,
): Promise<void> {
  await refuseTaken(deps, principal.tenant, request);
  await prepareNow(deps, principal, request, body, signal);
}

/**
 * Checks like `validateNow`, but reports the outcome as an execution, for which clients of the original wait.
 * @returns the id of the execution and its start time.
 * @throws AppError for every error except a bad blueprint.
 */
export async function validateAsExecution(
  deps: UploadDeps,
  principal: Principal,
  request: UploadRequest,
  body: ArchiveBody,
  signal?: AbortSignal,
): Promise<{ executionId: string; createdAt: string }> {
  const executionId = newId();
  const createdAt = isoInstant(deps.clock.now());
  let error = '';
  try {
    await validateNow(deps, principal, request, body, signal);
  } catch (failure) {
    if (!(failure instanceof AppError) || failure.code !== 'invalid_blueprint_error') throw failure;
    error = failure.message;
  }
  await deps.db.tx((tx) =>
    announceValidationEnd(tx, principal, { ...request, executionId, createdAt, error }),
  );
  return { executionId, createdAt };
}

/**
 * Accepts an upload for the background: the archive is stored (or its URL noted), the row waits, and finish-uploads does the rest
 * on any replica, also after a crash. `body` null without a URL: the request has no archive.
 * @throws AppError bad_parameters_error when the body is no archive; the row then stays as a failed upload.
 */
export async function acceptUpload(
  deps: UploadDeps,
  principal: Principal,
  request: UploadRequest,
  body: ArchiveBody,
): Promise<void> {
  await refuseTaken(deps, principal.tenant, request);
  const archive = request.url === null ? await storeBody(deps, body) : null;
  await deps.db.tx(async (tx) => {
    if (archive instanceof AppError) {
      const uploadId = await claimId(tx, principal, request, { state: 'uploading', archive: null });
      await refuseArchive(tx, uploadId, archive);
      return;
    }
    const state = archive === null ? 'pending' : 'uploading';
    await claimId(tx, principal, request, { state, archive });
    await requireStorage(tx, principal.tenant, deps.storageLimit(principal.tenant));
    afterCommit(tx, deps.kickUploads);
  });
  if (archive instanceof AppError) throw archive;
}

/** Ends the upload at once when its body is no archive: no background work is needed, and no execution of it is announced. */
async function refuseArchive(tx: Tx<DB>, uploadId: string, { message }: AppError): Promise<void> {
  await failUpload(tx, uploadId, null, 'uploading', 'failed_uploading', {
    error: message,
    traceback: message,
    diagnostics: null,
  });
}

/** Stores the archive; returns the error when there is none. */
async function storeBody(
  deps: UploadDeps,
  body: ArchiveBody,
): Promise<{ digest: string; size: number } | AppError> {
  if (body === null) return emptyBody();
  const archive = await body();
  try {
    if (archive.size === 0) return emptyBody();
    await archiveKind(archive);
    return await storeLoose(deps, archive.stream());
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error;
    const { message, details } = archiveFailure(error, deps.texts);
    return new AppError('bad_parameters_error', message, details, { cause: error });
  } finally {
    await archive.dispose();
  }
}

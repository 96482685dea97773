import { type Principal, uploadEnded } from '@baton/contracts';
import { outbox, type Tx } from '@baton/postgres';
import {
  parametersOf,
  uploadLog,
  uploadParameters,
  uploadVisibility,
  validationLog,
} from '../domain/upload-execution';
import type { UploadRequest } from '../domain/upload-request';
import type { DB } from '../store/tables.gen';
import { readEndedUpload } from '../store/uploads.sql';

/** Announces the end of an upload in the transaction that ended it; announces nothing for an upload that continues. */
export async function announceUploadEnd(tx: Tx<DB>, uploadId: string): Promise<void> {
  const upload = await readEndedUpload(tx, uploadId);
  if (upload === null) return;
  await outbox.append(
    tx,
    uploadEnded,
    { tenant: upload.tenant, key: `${upload.tenant}/${upload.id}` },
    {
      blueprintId: upload.id,
      executionId: upload.upload_execution_id,
      status: upload.state === 'uploaded' ? 'terminated' : 'failed',
      error: upload.error ?? '',
      createdBy: upload.created_by,
      createdAt: upload.created_at,
      visibility: uploadVisibility(upload.visibility),
      parameters: parametersOf(upload),
      log: uploadLog(upload.state),
    },
  );
}

/** Announces the end of a validation, which leaves no row. */
export async function announceValidationEnd(
  tx: Tx<DB>,
  principal: Principal,
  validation: UploadRequest & { executionId: string; createdAt: string; error: string },
): Promise<void> {
  const { id, executionId, createdAt, error, mainFileName: mainFile, url, visibility } = validation;
  await outbox.append(
    tx,
    uploadEnded,
    { tenant: principal.tenant, key: `${principal.tenant}/${id}` },
    {
      blueprintId: id,
      executionId,
      status: error === '' ? 'terminated' : 'failed',
      error,
      createdBy: principal.username,
      createdAt,
      visibility: uploadVisibility(visibility),
      parameters: uploadParameters({ id, mainFile, url, labels: null, isValidation: true }),
      log: validationLog(error === ''),
    },
  );
}

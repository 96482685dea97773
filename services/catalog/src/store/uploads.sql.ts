/** Unfinished asynchronous uploads: rows that are not in an end state, leased to one replica at a time. */
import type { LabelPair, Visibility } from '@baton/contracts';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { UploadState } from '../domain/upload.machine';
import { IS_STUCK } from './doctor.sql';
import { noteResources, type OwnedResource } from './noted-resources.sql';
import type { DB } from './tables.gen';

export interface LeasedUpload {
  tenant: string;
  id: string;
  upload_id: string;
  created_by: string;
  creator_id: number;
  is_by_administrator: boolean;
  visibility: Visibility;
  state: UploadState;
  main_file_name: string;
  archive_digest: string | null;
  archive_size: number | null;
  archive_url: string | null;
  requested_labels: LabelPair[] | null;
  attempts: number;
}

const UNFINISHED = sql`state in ('pending', 'uploading', 'extracting', 'parsing')`;

/** Leases the next unfinished upload without a live lease to `owner` for `leaseMs`; null when there is none. */
export async function leaseUpload(
  db: Db<DB>['query'],
  owner: string,
  leaseMs: number,
): Promise<LeasedUpload | null> {
  const { rows } = await sql<LeasedUpload>`
    update blueprints set lease_owner = ${owner}, lease_until = app_now() + ${leaseMs}::float8 * interval '1 millisecond',
      attempts = attempts + 1
    where upload_id = (
      select upload_id from blueprints where ${UNFINISHED} and (lease_until is null or lease_until < app_now())
      order by lease_until nulls first limit 1 for update skip locked)
    returning tenant, id, upload_id, created_by, creator_id, is_by_administrator, visibility, state, main_file_name, archive_digest, archive_size,
      archive_url, requested_labels, attempts`.execute(db);
  return rows[0] ?? null;
}

/** Renews a lease; returns false when it was lost. */
export async function renewLease(
  db: Db<DB>['query'],
  uploadId: string,
  owner: string,
  leaseMs: number,
): Promise<boolean> {
  const done = await sql`
    update blueprints set lease_until = app_now() + ${leaseMs}::float8 * interval '1 millisecond'
    where upload_id = ${uploadId} and lease_owner = ${owner} and ${UNFINISHED}`.execute(db);
  return done.numAffectedRows === 1n;
}

/** Moves an upload to its next state; returns false when the row is gone, in another state or leased to another owner. */
export async function moveUpload(
  tx: Tx<DB>,
  uploadId: string,
  owner: string,
  from: UploadState,
  to: UploadState,
  archive: { digest: string; size: number } | null = null,
): Promise<boolean> {
  const { rows } = await sql<OwnedResource>`
    update blueprints set state = ${to}, updated_at = app_now(),
      archive_digest = coalesce(${archive?.digest ?? null}, archive_digest), archive_size = coalesce(${archive?.size ?? null}::bigint, archive_size)
    where upload_id = ${uploadId} and state = ${from} and lease_owner = ${owner}
    returning tenant, id, created_by, visibility`.execute(tx);
  noteResources(tx, 'blueprints', 'changed', rows);
  return rows.length === 1;
}

export interface UploadFault {
  error: string;
  traceback: string | null;
  diagnostics: unknown[] | null;
}

/** An upload in the form of its execution. */
export interface ShownUpload {
  tenant: string;
  id: string;
  upload_execution_id: string;
  state: UploadState;
  error: string | null;
  created_at: string;
  created_by: string;
  visibility: Visibility;
  requested_main_file: string;
  archive_url: string | null;
  requested_labels: LabelPair[] | null;
}

const SHOWN = sql.raw(`tenant, id, upload_execution_id, state, error, created_at, created_by,
  coalesce(upload_visibility, visibility) as visibility, requested_main_file, archive_url, requested_labels`);

export async function readEndedUpload(tx: Tx<DB>, uploadId: string): Promise<ShownUpload | null> {
  const { rows } = await sql<ShownUpload>`
    select ${SHOWN} from blueprints where upload_id = ${uploadId} and upload_ended_at is not null`.execute(
    tx,
  );
  return rows[0] ?? null;
}

/** Returns the upload that clients see as this execution, running or ended. */
export async function findUploadOf(
  db: Db<DB>['query'],
  tenant: string,
  executionId: string,
): Promise<(ShownUpload & { has_ended: boolean }) | null> {
  const { rows } = await sql<ShownUpload & { has_ended: boolean }>`
    select ${SHOWN}, upload_ended_at is not null as has_ended from blueprints
    where tenant = ${tenant} and upload_execution_id = ${executionId}`.execute(db);
  return rows[0] ?? null;
}

/** Locks and returns a stuck upload; null when it is no longer stuck. */
export async function lockStuckUpload(
  tx: Tx<DB>,
  uploadId: string,
): Promise<{ state: UploadState; lease_owner: string | null } | null> {
  const { rows } = await sql<{ state: UploadState; lease_owner: string | null }>`
    select state, lease_owner from blueprints where upload_id = ${uploadId} and ${sql.raw(IS_STUCK)} for update`.execute(
    tx,
  );
  return rows[0] ?? null;
}

/** Ends an upload as failed; returns false when it no longer belongs to `owner`. */
export async function failUpload(
  tx: Tx<DB>,
  uploadId: string,
  owner: string | null,
  from: UploadState,
  to: UploadState,
  fault: UploadFault,
): Promise<boolean> {
  const { rows } = await sql<OwnedResource>`
    update blueprints set state = ${to}, error = ${fault.error}, error_traceback = ${fault.traceback},
      diagnostics = ${fault.diagnostics === null ? null : JSON.stringify(fault.diagnostics)}::json,
      lease_owner = null, lease_until = null, upload_ended_at = app_now(), updated_at = app_now()
    where upload_id = ${uploadId} and state = ${from} and lease_owner is not distinct from ${owner}
    returning tenant, id, created_by, visibility`.execute(tx);
  noteResources(tx, 'blueprints', 'changed', rows);
  return rows.length === 1;
}

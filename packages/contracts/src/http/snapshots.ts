import { z } from 'zod';
import { defineRoutes, type ListContract } from '../route';
import { execution } from './executions';
import { legacyFields } from './legacy-fields';
import { columnsOf } from './list-columns';
import { bodyFlag, envelope, ownedFields, queryBoolean, resourceId, visibility } from './shapes';

/** Snapshot (spec v3.1 part 2); `uploading` of the spec occurs only in documentation, the real value is `creating` (6.5). */
const snapshotStatus = z.enum(['creating', 'created', 'failed', 'uploaded']);
const snapshot = z
  .object({ ...ownedFields, id: z.string(), status: snapshotStatus, error: z.string() })
  .meta({ id: 'Snapshot' });
/** spec v2.1 "Snapshot". */
const snapshotV21 = snapshot
  .pick({ id: true, created_at: true, status: true, error: true })
  .extend({
    // A deleted snapshot has only its id.
    created_at: ownedFields.created_at.nullable(),
    status: snapshotStatus.nullable(),
    error: z.string().nullable(),
  })
  .partial({ created_at: true, status: true, error: true })
  .meta({ id: 'SnapshotV21' });
const snapshotOfAnyVersion = z.union([snapshot, snapshotV21]);
const snapshotFields = Object.keys(snapshot.shape);

const columns = columnsOf(snapshot);
const snapshotList: ListContract = {
  fields: snapshotFields,
  filters: columns,
  sorts: columns,
  search: 'id',
  defaultSort: [{ field: 'created_at', descending: false }],
  allowsAllTenants: true,
  allowsGetAll: true,
};

/** Body of PUT /snapshots/{id}; fields that only the original needs are accepted and have no effect. */
const createSnapshotBody = z.object({
  include_credentials: bodyFlag.optional(),
  include_logs: bodyFlag.default(true),
  include_events: bodyFlag.default(true),
  queue: bodyFlag.default(false),
  include_metrics: bodyFlag.optional(),
  tempdir_path: z.string().nullish(),
  legacy: bodyFlag.optional(),
  listener_timeout: z.number().nullish(),
  all_tenants: bodyFlag.optional(),
  /** Present in an upload that was sent to the wrong path. */
  snapshot_archive_url: z.unknown().optional(),
});

const restoreSnapshotBody = z.object({
  force: bodyFlag.optional(),
  dry_run: bodyFlag
    .default(false)
    .describe('Verifies and rehearses everything, tells what would happen, and changes nothing'),
  restore_certificates: bodyFlag.default(false),
  no_reboot: bodyFlag.default(false),
  timeout: z
    .number()
    .int()
    .min(0)
    .max(86_400)
    .default(300)
    .describe('Seconds to wait for other executions to end'),
  recreate_deployments_envs: bodyFlag.optional(),
});

const snapshotUploadArguments = z.object({
  snapshot_archive_url: z.string().max(4096).optional(),
  visibility: visibility.optional(),
  private_resource: queryBoolean.optional(),
});
/** The same as a JSON body, without an archive. */
const snapshotUploadBody = snapshotUploadArguments.extend({ private_resource: z.boolean().optional() });

const params = z.object({ snapshot_id: resourceId });
const owned = { owner: 'cluster-status', tenant: 'required', versions: ['v3.1', 'v2.1'] } as const;
const path = '/snapshots/:snapshot_id';

export const snapshotRoutes = defineRoutes([
  {
    ...owned,
    id: 'listSnapshots',
    method: 'GET',
    path: '/snapshots',
    permission: 'snapshot_list',
    summary: 'Snapshots',
    spec: 'v3.1-part2 Snapshots',
    list: snapshotList,
    legacyFields: legacyFields.snapshot,
    status: 200,
    response: envelope(snapshotOfAnyVersion),
  },
  {
    ...owned,
    id: 'getSnapshot',
    method: 'GET',
    path,
    permission: 'snapshot_get',
    summary: 'One snapshot',
    spec: 'v3.1-part2 Snapshots',
    status: 200,
    response: snapshotOfAnyVersion,
    includeFields: snapshotFields,
    legacyFields: legacyFields.snapshot,
  },
  {
    ...owned,
    id: 'createSnapshot',
    method: 'PUT',
    path,
    permission: 'snapshot_create',
    summary: 'Makes a snapshot of the whole manager; executions go on meanwhile',
    spec: 'v3.1-part2 Snapshots',
    params,
    body: createSnapshotBody,
    isBodyOptional: true,
    status: 201,
    response: execution.partial(),
  },
  {
    ...owned,
    id: 'deleteSnapshot',
    method: 'DELETE',
    path,
    permission: 'snapshot_delete',
    summary: 'Deletes a snapshot that is neither being made nor restored',
    spec: 'v3.1-part2 Snapshots',
    status: 204,
  },
  {
    ...owned,
    id: 'patchSnapshot',
    method: 'PATCH',
    path,
    versions: ['v3.1'],
    permission: 'snapshot_status_update',
    summary: 'Sets the status of a snapshot (internal)',
    spec: 'reference 5.25',
    body: z.object({ status: snapshotStatus, error: z.string().nullish() }),
    status: 200,
    response: snapshot,
  },
  {
    ...owned,
    id: 'uploadSnapshot',
    method: 'PUT',
    path: `${path}/archive`,
    permission: 'snapshot_upload',
    summary: 'Uploads the archive of a snapshot',
    spec: 'v3.1-part2 Snapshots',
    params,
    query: snapshotUploadArguments,
    body: snapshotUploadBody,
    isBodyOptional: true,
    rawBody: 'archive',
    status: 201,
    response: snapshotOfAnyVersion,
  },
  {
    ...owned,
    id: 'downloadSnapshot',
    method: 'GET',
    path: `${path}/archive`,
    permission: 'snapshot_download',
    summary: 'The archive of a snapshot: a zip',
    spec: 'v3.1-part2 Snapshots',
    status: 200,
    responseKind: 'stream',
  },
  {
    ...owned,
    id: 'restoreSnapshot',
    method: 'POST',
    path: `${path}/restore`,
    permission: 'snapshot_restore',
    summary: 'Replaces the state of the manager by that of the snapshot',
    spec: 'v3.1-part2 Snapshots',
    body: restoreSnapshotBody,
    isBodyOptional: true,
    status: 200,
    response: execution.partial(),
  },
  {
    id: 'getSnapshotStatus',
    owner: 'cluster-status',
    tenant: 'none',
    versions: ['v3.1', 'v2.1'],
    method: 'GET',
    path: '/snapshot-status',
    permission: 'none',
    summary: 'Whether a restore is running',
    spec: 'v3.1-part2 Snapshots',
    isOpenInMaintenance: true,
    status: 200,
    response: z.object({ status: z.enum(['running', 'not-running']) }),
  },
]);

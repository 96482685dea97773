import { z } from 'zod';
import { importOptions, pair } from '../import-options';
import { defineRoutes } from '../route';
import { envelope, queryBoolean } from './shapes';

/** States of an import: (uploaded ->) waiting -> checking -> checked -> preparing -> applying -> applied; or refused, or failed. */
const importState = z.enum([
  'uploaded',
  'waiting',
  'checking',
  'checked',
  'preparing',
  'applying',
  'applied',
  'refused',
  'failed',
]);

const counts = z.object({
  type: z.string(),
  tenant: z.string().nullable(),
  read: z.number().int(),
  imported: z.number().int(),
  same: z.number().int(),
  skipped: z.number().int(),
  replaced: z.number().int(),
  lost: z.number().int(),
  conflicts: z.number().int(),
});

const importJob = z
  .object({
    id: z.string(),
    state: importState,
    created_at: z.string(),
    created_by: z.string(),
    updated_at: z.string(),
    error: z.string(),
    /** cloudify-legacy, cloudify, cloudify-early, baton-bundle; null before the archive was looked at. */
    format: z.string().nullable(),
    source_version: z.string().nullable(),
    archive_sha256: z.string(),
    archive_bytes: z.number().int(),
    /** False: the archive was deleted after the import. */
    has_archive: z.boolean(),
    keep_archive: z.boolean(),
    /** Tenants here that got records. */
    tenants: z.array(z.string()),
    options: z.record(z.string(), z.unknown()),
    /** What is being done, in words. */
    step: z.string(),
    counts: z.array(counts),
    /** Of the finished check: `apply` must name it. */
    report_digest: z.string().nullable(),
    /** clean: nothing is lost. losses: see the report. refused: cannot be applied. */
    verdict: z.enum(['clean', 'losses', 'refused']).nullable(),
    /** Deployments with operations on agents: the number that decides whether an estate can move. */
    deployments_with_agents: z.number().int().nullable(),
  })
  .meta({ id: 'Import' });

const line = z
  .object({
    /** fate, plan, agent, reference, collision, not_carried, field, note, total. */
    kind: z.string(),
    type: z.string().optional(),
    tenant: z.string().optional(),
    id: z.string().optional(),
    fate: z.enum(['imported', 'same', 'skipped', 'replaced', 'lost', 'conflict']).optional(),
    code: z.string().optional(),
    text: z.string(),
    /** File or table and line in the archive. */
    place: z.string().optional(),
  })
  .loose()
  .meta({ id: 'ImportReportLine' });

const owned = {
  owner: 'cluster-status',
  tenant: 'none',
  versions: ['v3.1'],
  spec: 'reference cloudify-snapshots.md 7',
} as const;
const params = z.object({ import_id: z.string().min(1).max(64) });

export const importRoutes = defineRoutes([
  {
    ...owned,
    id: 'listImports',
    method: 'GET',
    path: '/imports',
    permission: 'snapshot_restore',
    summary: 'Imports of archives of other managers',
    list: {
      fields: Object.keys(importJob.shape),
      filters: [],
      sorts: ['created_at'],
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: false,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(importJob),
  },
  {
    ...owned,
    id: 'createImport',
    method: 'POST',
    path: '/imports',
    permission: 'snapshot_restore',
    summary:
      'Uploads an archive (body), or takes that of a snapshot, with options (parameter `options`, JSON), and checks it; nothing of the manager changes. Keys only by POST /imports/{id}/check',
    rawBody: 'archive',
    query: z.object({
      options: z.string().max(1_000_000).optional(),
      /** The archive is only stored; POST /imports/{id}/check checks it, with keys. */
      hold: queryBoolean.optional(),
      /** `tenant/id` of a snapshot that was uploaded here, in place of a body. */
      snapshot: pair.max(600).optional(),
    }),
    status: 201,
    response: importJob,
  },
  {
    ...owned,
    id: 'getImport',
    method: 'GET',
    path: '/imports/:import_id',
    permission: 'snapshot_restore',
    summary: 'One import, its state and counts',
    params,
    status: 200,
    response: importJob,
  },
  {
    ...owned,
    id: 'checkImport',
    method: 'POST',
    path: '/imports/:import_id/check',
    permission: 'snapshot_restore',
    summary:
      'Checks the stored archive again, with other options or with keys; keys are kept in memory for this check and sealed for apply only',
    params,
    body: z.object({
      options: importOptions.optional(),
      /** Salt of the password hashes, where the archive has none. */
      hash_salt: z.string().max(4096).optional(),
      /** Key of the secrets, where the archive has none or another one. */
      encryption_key: z.string().max(4096).optional(),
      /** Of a bundle of another Baton. */
      passphrase: z.string().max(4096).optional(),
    }),
    status: 200,
    response: importJob,
  },
  {
    ...owned,
    id: 'readImportReport',
    method: 'GET',
    path: '/imports/:import_id/report',
    permission: 'snapshot_restore',
    summary: 'Lines of the report',
    params,
    query: z.object({
      _offset: z.coerce.number().int().min(0).default(0),
      _size: z.coerce.number().int().min(1).max(10_000).default(1_000),
      kind: z.string().max(64).optional(),
    }),
    status: 200,
    response: envelope(line),
  },
  {
    ...owned,
    id: 'applyImport',
    method: 'POST',
    path: '/imports/:import_id/apply',
    permission: 'snapshot_restore',
    summary:
      'Applies a checked import; refused when the archive, the options or the objects here are not those of the check',
    params,
    body: z.object({
      report_digest: z.string().min(1).max(128),
      /** The archive stays for a repeat; else it is deleted after the import. */
      keep_archive: z.boolean().default(false),
    }),
    status: 200,
    response: importJob,
  },
  {
    ...owned,
    id: 'activateImport',
    method: 'POST',
    path: '/imports/:import_id/activate',
    permission: 'snapshot_restore',
    summary: 'Lets workflows start on imported deployments: from now on this manager drives them',
    params,
    body: z.object({
      tenant: z.string().max(256).optional(),
      deployments: z.array(z.string().max(600)).max(10_000).optional(),
      with_schedules: z.boolean().default(false),
    }),
    status: 200,
    response: z.object({ deployments: z.number().int(), schedules: z.number().int() }),
  },
  {
    ...owned,
    id: 'deleteImport',
    method: 'DELETE',
    path: '/imports/:import_id',
    permission: 'snapshot_restore',
    summary: 'Deletes the archive, the report and staged records of an import; what was imported stays',
    params,
    status: 200,
    response: z.object({ id: z.string() }),
  },
]);

export const bundleRoutes = defineRoutes([
  {
    ...owned,
    id: 'exportBundle',
    method: 'POST',
    path: '/bundles',
    permission: 'snapshot_create',
    summary: 'One tenant, or one deployment with what it needs, as an archive that another Baton imports',
    body: z.object({
      tenant: z.string().min(1).max(256),
      deployment_id: z.string().max(256).optional(),
      /** Of one deployment: also those that it depends on, and what these need. */
      with_dependencies: z.boolean().default(false),
      include_events: z.boolean().default(true),
      /** Values of secrets travel encrypted under it; without it they do not travel. At least 12 characters. */
      passphrase: z.string().min(12).max(4096).optional(),
    }),
    responseKind: 'stream',
    status: 200,
  },
]);

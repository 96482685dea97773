import { legacyFields } from '@baton/contracts/http/legacy-fields';
import { snapshotRoutes } from '@baton/contracts/http/snapshots';
import {
  answer,
  type BoundRoute,
  bindRoutes,
  type HttpAnswer,
  type HttpCall,
  listEnvelope,
} from '@baton/http';
import { AppError, badParameter } from '@baton/kernel';
import {
  changeStatus,
  registerUpload,
  removeSnapshot,
  requestCreation,
  requestRestore,
  requireArchive,
  requireFree,
} from '../commands/request-snapshot';
import type { SnapshotDeps } from '../commands/snapshot-deps';
import { storeArchive } from '../commands/store-archive';
import { listPrivateArchives, presentArchive, visibleArchive } from '../queries/private-archives';
import { openJobs } from '../store/snapshot-jobs.sql';

/** Downloads of archives by address go through the same judgement as those of blueprints. */
export type FetchArchive = (
  url: string,
  field: string,
  signal: AbortSignal,
) => Promise<AsyncIterable<Buffer>>;

const pick = (value: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.filter((name) => name in value).map((name) => [name, value[name]]));

/** `YYYY-MM-DD hh:mm:ss.ffffff`, as v2.1 writes times. */
const naive = (iso: unknown): string => `${String(iso).slice(0, 10)} ${String(iso).slice(11, 23)}000`;

function present(call: HttpCall, row: Record<string, unknown>): Record<string, unknown> {
  if (call.version !== 'v2.1' || call.wire === 'cloudify') return row;
  const shown = pick(row, legacyFields.snapshot);
  return 'created_at' in shown ? { ...shown, created_at: naive(shown.created_at) } : shown;
}

function presentExecution(call: HttpCall, execution: Record<string, unknown>): Record<string, unknown> {
  if (call.wire === 'cloudify')
    return { ...execution, total_operations: 0, finished_operations: 0, parameters_p: null };
  if (call.version !== 'v2.1') return execution;
  return { ...pick(execution, legacyFields.execution), created_at: naive(execution.created_at) };
}

/** The original's code includes credentials by default, its documents do not. Neither wire has any to include. */
async function create(deps: SnapshotDeps, call: HttpCall): Promise<Record<string, unknown>> {
  const body = call.body ?? {};
  if (body.snapshot_archive_url !== undefined)
    throw badParameter('snapshot_archive_url', 'An archive is not uploaded here', {
      expected: 'PUT /snapshots/{snapshot_id}/archive',
    });
  const includeCredentials = body.include_credentials ?? call.wire === 'cloudify';
  const includeEvents = body.include_events ?? true;
  const includeLogs = body.include_logs ?? true;
  const shown = {
    snapshot_id: call.params.snapshot_id,
    include_credentials: includeCredentials,
    include_logs: includeLogs,
    include_events: includeEvents,
  };
  const original = {
    config: {},
    tempdir_path: body.tempdir_path ?? null,
    legacy: body.legacy ?? false,
    listener_timeout: body.listener_timeout ?? null,
  };
  const parameters = call.wire === 'cloudify' ? { ...shown, ...original } : shown;
  const options = {
    includeCredentials,
    includeEvents,
    includeLogs,
    mayQueue: body.queue ?? false,
    parameters,
  };
  return presentExecution(
    call,
    await requestCreation(deps, call.principal, call.params.snapshot_id!, options),
  );
}

async function restore(deps: SnapshotDeps, call: HttpCall): Promise<Record<string, unknown>> {
  const body = call.body ?? {};
  if (body.force === undefined && call.wire === 'cloudify')
    throw badParameter('force', 'force is required', { expected: 'true or false' });
  if (body.no_reboot && !body.restore_certificates)
    throw badParameter('no_reboot', 'no_reboot is only relevant with restore_certificates', {
      expected: 'restore_certificates: true',
    });
  if (body.restore_certificates)
    throw badParameter('restore_certificates', 'Snapshots hold no certificates of the manager', {
      expected: false,
    });
  const isForced = body.force ?? false;
  const isDryRun = body.dry_run ?? false;
  const timeoutS = body.timeout ?? 300;
  const parameters = {
    snapshot_id: call.params.snapshot_id,
    force: isForced,
    timeout: timeoutS,
    dry_run: isDryRun,
  };
  const options = { isForced, isDryRun, timeoutS, parameters };
  return presentExecution(
    call,
    await requestRestore(deps, call.principal, call.params.snapshot_id!, options),
  );
}

async function upload(
  deps: SnapshotDeps & { fetch: FetchArchive },
  call: HttpCall,
): Promise<Record<string, unknown>> {
  const id = call.params.snapshot_id!;
  const hasArchive = call.hasBody && call.body === undefined;
  const url = call.body?.snapshot_archive_url ?? call.query.snapshot_archive_url;
  await requireFree(deps, call.principal, id);
  if (hasArchive && url !== undefined)
    throw badParameter(
      'snapshot_archive_url',
      'an archive in the body and snapshot_archive_url cannot be given together',
      {
        expected: 'one of both',
      },
    );
  if (!hasArchive && url === undefined)
    throw new AppError(
      'bad_parameters_error',
      'No archive: the body is empty and snapshot_archive_url is not given',
      {
        field: 'snapshot_archive_url',
        expected: 'an archive as body, or snapshot_archive_url',
      },
    );
  const content = url === undefined ? call.raw : await deps.fetch(url, 'snapshot_archive_url', call.signal);
  await registerUpload(deps, call.principal, id, await storeArchive(deps, content));
  return present(call, presentArchive(await visibleArchive(deps.db.query, call.principal, id, 'snapshots')));
}

async function download(deps: SnapshotDeps, call: HttpCall): Promise<HttpAnswer> {
  const snapshot = await visibleArchive(deps.db.query, call.principal, call.params.snapshot_id!, 'snapshots');
  const { digest, size } = requireArchive(snapshot, 'download');
  return answer({
    stream: await deps.blobs.open(digest),
    length: size,
    filename: `${snapshot.id}.zip`,
    contentType: 'application/octet-stream',
  });
}

/** Snapshots and their restore (spec v3.1 part 2, reference/rest-api.md 5.25). */
export function snapshotsHttp(deps: SnapshotDeps & { fetch: FetchArchive }): BoundRoute[] {
  const shown = async (call: HttpCall) =>
    present(
      call,
      presentArchive(
        await visibleArchive(deps.db.query, call.principal, call.params.snapshot_id!, 'snapshots'),
      ),
    );
  return bindRoutes(snapshotRoutes, {
    listSnapshots: async (call) => {
      const page = await listPrivateArchives(deps.db.query, call.principal, call.list, 'snapshots');
      return listEnvelope({ ...page, items: page.items.map((row) => present(call, row)) }, call.list);
    },
    getSnapshot: shown,
    createSnapshot: (call) => create(deps, call),
    restoreSnapshot: (call) => restore(deps, call),
    uploadSnapshot: (call) => upload(deps, call),
    downloadSnapshot: (call) => download(deps, call),
    deleteSnapshot: async (call) => {
      const gone = await removeSnapshot(deps, call.principal, call.params.snapshot_id!);
      if (call.wire === 'cloudify') return answer({ status: 200, body: presentArchive(gone) });
      return call.version === 'v2.1'
        ? answer({ status: 200, body: { id: gone.id, created_at: null, status: null, error: null } })
        : answer({ status: 204 });
    },
    patchSnapshot: async (call) => {
      const { status, error } = call.body;
      return presentArchive(
        await changeStatus(deps, call.principal, call.params.snapshot_id!, status, error ?? ''),
      );
    },
    getSnapshotStatus: async () => {
      const jobs = await openJobs(deps.db.query);
      return {
        status: jobs.some((job) => job.kind === 'restore' && !job.is_dry_run) ? 'running' : 'not-running',
      };
    },
  });
}

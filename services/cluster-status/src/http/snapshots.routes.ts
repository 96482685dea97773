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
import { isRestoring } from '../queries/restores';
import type { WirePolicy } from './wire-policy';

/** Downloads an archive by URL; the URL must pass the same checks as the URLs of blueprints. */
export type FetchArchive = (
  url: string,
  field: string,
  signal: AbortSignal,
) => Promise<AsyncIterable<Buffer>>;

async function create(
  deps: SnapshotDeps,
  wire: WirePolicy,
  call: HttpCall,
): Promise<Record<string, unknown>> {
  const body = call.body ?? {};
  if (body.snapshot_archive_url !== undefined)
    throw badParameter('snapshot_archive_url', 'An archive is not uploaded here', {
      expected: 'PUT /snapshots/{snapshot_id}/archive',
    });
  const includeCredentials = body.include_credentials ?? wire.includesCredentials;
  const includeEvents = body.include_events ?? true;
  const includeLogs = body.include_logs ?? true;
  const shown = {
    snapshot_id: call.params.snapshot_id,
    include_credentials: includeCredentials,
    include_logs: includeLogs,
    include_events: includeEvents,
  };
  const options = {
    includeCredentials,
    includeEvents,
    includeLogs,
    mayQueue: body.queue ?? false,
    parameters: wire.creationParameters(shown, body),
  };
  return wire.presentExecution(
    call.version,
    await requestCreation(deps, call.principal, call.params.snapshot_id!, options),
  );
}

async function restore(
  deps: SnapshotDeps,
  wire: WirePolicy,
  call: HttpCall,
): Promise<Record<string, unknown>> {
  const body = call.body ?? {};
  if (body.force === undefined && wire.needsForce)
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
  return wire.presentExecution(
    call.version,
    await requestRestore(deps, call.principal, call.params.snapshot_id!, options),
  );
}

async function upload(
  deps: SnapshotDeps & { fetch: FetchArchive },
  wire: WirePolicy,
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
  const row = await visibleArchive(deps.db.query, call.principal, id, 'snapshots');
  return wire.presentSnapshot(call.version, presentArchive(row));
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
export function snapshotsHttp(deps: SnapshotDeps & { fetch: FetchArchive }, wire: WirePolicy): BoundRoute[] {
  const shown = async (call: HttpCall) =>
    wire.presentSnapshot(
      call.version,
      presentArchive(
        await visibleArchive(deps.db.query, call.principal, call.params.snapshot_id!, 'snapshots'),
      ),
    );
  return bindRoutes(snapshotRoutes, {
    listSnapshots: async (call) => {
      const page = await listPrivateArchives(deps.db.query, call.principal, call.list, 'snapshots');
      return listEnvelope(
        { ...page, items: page.items.map((row) => wire.presentSnapshot(call.version, row)) },
        call.list,
      );
    },
    getSnapshot: shown,
    createSnapshot: (call) => create(deps, wire, call),
    restoreSnapshot: (call) => restore(deps, wire, call),
    uploadSnapshot: (call) => upload(deps, wire, call),
    downloadSnapshot: (call) => download(deps, call),
    deleteSnapshot: async (call) => {
      const gone = await removeSnapshot(deps, call.principal, call.params.snapshot_id!);
      return wire.deletedSnapshot(call.version, presentArchive(gone));
    },
    patchSnapshot: async (call) => {
      const { status, error } = call.body;
      return presentArchive(
        await changeStatus(deps, call.principal, call.params.snapshot_id!, status, error ?? ''),
      );
    },
    getSnapshotStatus: async () => ({
      status: (await isRestoring(deps.db.query)) ? 'running' : 'not-running',
    }),
  });
}

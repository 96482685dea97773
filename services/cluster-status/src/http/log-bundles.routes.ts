import { logBundleRoutes } from '@baton/contracts/http/log-bundles';
import { answer, type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { AppError } from '@baton/kernel';
import { type LogBundleDeps, removeLogBundle, requestLogBundle } from '../commands/log-bundles';
import { listPrivateArchives, presentArchive, visibleArchive } from '../queries/private-archives';
import type { WirePolicy } from './wire-policy';

/** Log bundles (reference/rest-api.md 5.13). */
export function logBundlesHttp(deps: LogBundleDeps, wire: WirePolicy): BoundRoute[] {
  return bindRoutes(logBundleRoutes, {
    listLogBundles: async ({ principal, list }) =>
      listEnvelope(await listPrivateArchives(deps.db.query, principal, list, 'log_bundles'), list),
    getLogBundle: async ({ principal, params }) =>
      presentArchive(await visibleArchive(deps.db.query, principal, params.log_bundle_id!, 'log_bundles')),
    createLogBundle: async ({ principal, params, version }) =>
      wire.presentExecution(version, await requestLogBundle(deps, principal, params.log_bundle_id!)),
    deleteLogBundle: async ({ principal, params }) =>
      presentArchive(await removeLogBundle(deps, principal, params.log_bundle_id!)),
    downloadLogBundle: async ({ principal, params }) => {
      const bundle = await visibleArchive(deps.db.query, principal, params.log_bundle_id!, 'log_bundles');
      if (bundle.archive_digest === null)
        throw new AppError(
          'log_bundle_action_error',
          `Log bundle \`${bundle.id}\` is ${bundle.status}: there is nothing to download`,
          { status: bundle.status },
        );
      return answer({
        stream: await deps.blobs.open(bundle.archive_digest),
        length: bundle.archive_size!,
        filename: `${bundle.id}.zip`,
        contentType: 'application/octet-stream',
      });
    },
  });
}

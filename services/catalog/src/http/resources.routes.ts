import { parseResourceUri } from '@baton/contracts';
import { resourceRoutes } from '@baton/contracts/http/resources';
import {
  answer,
  type BoundRoute,
  bindRoutes,
  type HttpAnswer,
  type HttpCall,
  type ServedFile,
  serveFile,
} from '@baton/http';
import { AppError, badParameter, notFound } from '@baton/kernel';
import { visiblePlugin } from '../commands/change-plugin';
import {
  blueprintResource,
  checkResourceUri,
  type FolderListing,
  pluginResource,
  type ResourceDeps,
  uploadedBlueprint,
} from '../queries/read-resources';

const READS = ['GET', 'HEAD'];

const serve = (call: HttpCall, found: ServedFile | FolderListing): Promise<HttpAnswer> | HttpAnswer =>
  isFile(found) ? serveFile(call.headers, found) : answer({ status: 200, body: found });

const isFile = (found: ServedFile | FolderListing): found is ServedFile => typeof found.open === 'function';

/** The gateway made the tenant of the path that of the request; of one that does not exist there is none. */
function requireTenantOfPath({ params, principal }: HttpCall): void {
  if (params.tenant_name !== principal.tenant) throw notFound('Tenant', params.tenant_name!);
}

export function resourceHttp(deps: ResourceDeps): BoundRoute[] {
  return bindRoutes(resourceRoutes, {
    getFileServerAuth: async ({ headers, principal }) => {
      const uri = headers['x-original-uri'];
      if (typeof uri !== 'string')
        throw badParameter('X-Original-Uri', 'The header X-Original-Uri is missing', {
          expected: 'the path that the web proxy was asked for',
        });
      const method = headers['x-original-method'] ?? 'GET';
      if (typeof method !== 'string' || !READS.includes(method.toUpperCase()))
        throw new AppError('forbidden_error', 'Files of the file server are only read', { expected: READS });
      await checkResourceUri(deps, principal, parseResourceUri(uri));
      return {};
    },
    getBlueprintResource: async (call) => {
      requireTenantOfPath(call);
      const { blueprint_id: id, '*': path } = call.params;
      return serve(call, await blueprintResource(deps, call.principal, id!, path!));
    },
    getUploadedBlueprint: async (call) => {
      requireTenantOfPath(call);
      const { blueprint_id: id, file_name: name } = call.params;
      return serve(call, await uploadedBlueprint(deps, call.principal, id!, name!));
    },
    getPluginResource: async (call) => {
      const plugin = await visiblePlugin(deps.db, call.principal, call.params.plugin_id!);
      return serve(call, await pluginResource(deps, plugin, call.params['*']!));
    },
  });
}

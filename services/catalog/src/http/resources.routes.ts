import { parseResourceUri } from '@baton/contracts';
import { resourceRoutes } from '@baton/contracts/http/resources';
import { type BoundRoute, bindRoutes, type Handler, type HttpCall } from '@baton/http';
import { AppError, badParameter } from '@baton/kernel';
import { visiblePlugin } from '../commands/change-plugin';
import { checkResourceUri, type UriDeps } from '../queries/check-resource-uri';
import {
  blueprintFolder,
  blueprintResource,
  pluginResource,
  uploadedBlueprint,
} from '../queries/read-resources';
import { requireTenantOfPath, serveFound } from './serve-found';
import { packed, type WrittenFilesDeps, writtenFileHandlers } from './written-files.routes';

const READS = ['GET', 'HEAD'];
const WRITES = ['PUT', 'POST', 'DELETE'];

/** Whether the proxy's request writes. @throws AppError forbidden_error for an unknown method */
function isWrite(header: string | string[] | undefined): boolean {
  const method = typeof header === 'string' ? header.toUpperCase() : header === undefined ? 'GET' : '';
  if (READS.includes(method)) return false;
  if (WRITES.includes(method)) return true;
  throw new AppError('forbidden_error', 'Files of the file server are read, written and removed', {
    expected: [...READS, ...WRITES],
  });
}

export type ResourceHttpDeps = UriDeps & WrittenFilesDeps;

export function resourceHttp(deps: ResourceHttpDeps): BoundRoute[] {
  const files: Record<string, Handler> = {
    getBlueprintResource: async (call) => {
      requireTenantOfPath(call);
      const { blueprint_id: id, '*': path } = call.params;
      if (call.query.archive) return packed(await blueprintFolder(deps, call.principal, id!, path!), id!);
      return serveFound(call, await blueprintResource(deps, call.principal, id!, path!));
    },
    getUploadedBlueprint: async (call) => {
      requireTenantOfPath(call);
      const { blueprint_id: id, file_name: name } = call.params;
      return serveFound(call, await uploadedBlueprint(deps, call.principal, id!, name!));
    },
    getPluginResource: async (call) => {
      const plugin = await visiblePlugin(deps.db, call.principal, call.params.plugin_id!);
      return serveFound(call, await pluginResource(deps, plugin, call.params['*']!));
    },
    ...writtenFileHandlers(deps),
  };
  const proxied = Object.entries(files).map(([id, handler]): [string, Handler] => [
    `proxied${id[0]!.toUpperCase()}${id.slice(1)}`,
    handler,
  ]);
  return bindRoutes(resourceRoutes, {
    getFileServerAuth: async ({ headers, principal }: HttpCall) => {
      const uri = headers['x-original-uri'];
      if (typeof uri !== 'string')
        throw badParameter('X-Original-Uri', 'The header X-Original-Uri is missing', {
          expected: 'the path that the web proxy was asked for',
        });
      const isChange = isWrite(headers['x-original-method']);
      await checkResourceUri(deps, principal, parseResourceUri(uri), isChange);
      return {};
    },
    ...files,
    ...Object.fromEntries(proxied),
  });
}

/** The file server (reference/rest-api.md 5.30): also below /resources, without a version. */
import { z } from 'zod';
import { defineRoutes } from '../route';
import { resourceId } from './shapes';

const shared = {
  owner: 'catalog',
  versions: ['v3.1', 'v2.1'],
  spec: 'reference 5.30',
  method: 'GET',
  tenant: 'required',
  isOpenInMaintenance: true,
  status: 200,
} as const;

export const resourceRoutes = defineRoutes([
  {
    ...shared,
    id: 'getFileServerAuth',
    path: '/file-server-auth',
    permission: 'file_server_auth',
    tenant: 'optional',
    isTenantOfUri: true,
    reachesGlobal: true,
    summary:
      'Whether the caller may read the file that X-Original-Uri names; for a web proxy before a file server',
    response: z.object({}),
  },
  {
    ...shared,
    id: 'getBlueprintResource',
    path: '/resources/blueprints/:tenant_name/:blueprint_id/*',
    permission: 'file_server_auth',
    reachesGlobal: true,
    summary:
      'A file of an unpacked blueprint, or with a slash at its end the files below a folder as {path: time}; those of global blueprints for everybody',
    responseKind: 'stream',
  },
  {
    ...shared,
    id: 'getUploadedBlueprint',
    path: '/resources/uploaded-blueprints/:tenant_name/:blueprint_id/:file_name',
    params: z.object({ tenant_name: z.string(), blueprint_id: resourceId, file_name: z.string() }),
    permission: 'file_server_auth',
    summary: 'The archive of a blueprint as it was uploaded: <id>.<kind>',
    responseKind: 'stream',
  },
  {
    ...shared,
    id: 'getPluginResource',
    path: '/resources/plugins/:plugin_id/*',
    permission: 'plugin_download',
    summary: 'The wagon or a yaml file of a plugin, or with a slash at its end their names',
    responseKind: 'stream',
  },
]);

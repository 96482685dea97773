/**
 * The file server (reference/rest-api.md 5.30): below /resources, also without a version, and below /file-server-proxy
 * for clients of the original's object storage.
 */
import { z } from 'zod';
import { defineRoutes, type RouteContract } from '../route';
import { resourceId } from './shapes';

/** Clients write `archive=True` and `extract=yes`. */
const folderSwitch = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(z.enum(['true', 'yes', '1', 'false', 'no', '0']))
  .transform((text) => text === 'true' || text === 'yes' || text === '1');
const asArchive = z.object({
  archive: folderSwitch.default(false).describe('Pack the folder as tar.gz instead of listing it'),
});
const withExtract = z.object({
  extract: folderSwitch.default(false).describe('Unpack the archive into the folder'),
});

/** Path below the requested folder -> ISO time of the last change. */
const folderListing = z.record(z.string(), z.string());

const shared = {
  owner: 'catalog',
  versions: ['v3.1', 'v2.1'],
  spec: 'reference 5.30',
  method: 'GET',
  tenant: 'required',
  isOpenInMaintenance: true,
  status: 200,
} as const;

const readRoutes = defineRoutes([
  {
    ...shared,
    id: 'getBlueprintResource',
    path: '/resources/blueprints/:tenant_name/:blueprint_id/*',
    permission: 'file_server_auth',
    reachesGlobal: true,
    summary:
      'A file of an unpacked blueprint, or with a slash at its end the files below a folder as {path: time}; those of global blueprints for everybody',
    query: asArchive,
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
    summary: 'The wagon, a yaml file or the icon of a plugin, or with a slash at its end their names',
    responseKind: 'stream',
  },
]);

interface WrittenArea {
  /** Part of the ids of its routes. */
  noun: string;
  path: string;
  about: string;
  read: Pick<RouteContract, 'permission' | 'tenant'>;
  write: Pick<RouteContract, 'permission' | 'tenant' | 'isAllowedToExecution'>;
}

/** Folders that clients and operations may write to, with the permissions (docs/adr/0017-written-files.md). */
const writtenAreas: readonly WrittenArea[] = [
  {
    noun: 'DeploymentFile',
    path: '/resources/deployments/:tenant_name/:deployment_id/*',
    about: 'the working folder of a deployment',
    read: { permission: 'file_server_auth', tenant: 'required' },
    write: { permission: 'deployment_update', tenant: 'required', isAllowedToExecution: true },
  },
  {
    noun: 'TenantFile',
    path: '/resources/tenant-resources/:tenant_name/*',
    about: 'the files of a tenant',
    read: { permission: 'file_server_auth', tenant: 'required' },
    write: { permission: 'blueprint_upload', tenant: 'required' },
  },
  {
    noun: 'GlobalFile',
    path: '/resources/global-resources/*',
    about: 'the files of all tenants',
    read: { permission: 'login', tenant: 'none' },
    write: { permission: 'create_global_resource', tenant: 'none' },
  },
];

const writtenRoutes = ({ noun, path, about, read, write }: WrittenArea): RouteContract[] => {
  const changing = { ...shared, ...write, path, isOpenInMaintenance: false };
  return [
    {
      ...shared,
      ...read,
      id: `get${noun}`,
      path,
      summary: `A file of ${about}, or with a slash at its end the files below a folder as {path: time}`,
      query: asArchive,
      responseKind: 'stream',
    },
    {
      ...changing,
      id: `put${noun}`,
      method: 'PUT',
      summary: `Writes a file of ${about}: the body, or the one file of a multipart body with its mtime`,
      query: withExtract,
      rawBody: 'archive',
      response: folderListing,
    },
    {
      ...changing,
      id: `post${noun}s`,
      method: 'POST',
      summary: `Writes the files of a multipart body into a folder of ${about}`,
      rawBody: 'archive',
      response: folderListing,
    },
    {
      ...changing,
      id: `delete${noun}`,
      method: 'DELETE',
      summary: `Removes a file of ${about}, or with a slash at its end all below a folder`,
      status: 204,
    },
  ];
};

/** The same route below /file-server-proxy. */
const proxied = (route: RouteContract): RouteContract => ({
  ...route,
  id: `proxied${route.id[0]!.toUpperCase()}${route.id.slice(1)}`,
  path: route.path.replace('/resources/', '/file-server-proxy/'),
  versions: ['v3.1'],
});

const fileServerAuth = defineRoutes([
  {
    ...shared,
    id: 'getFileServerAuth',
    path: '/file-server-auth',
    permission: 'file_server_auth',
    tenant: 'optional',
    isTenantOfUri: true,
    reachesGlobal: true,
    summary:
      'Whether the caller may read or write the file that X-Original-Uri names; for a web proxy before a file server',
    response: z.object({}),
  },
]);

const files: RouteContract[] = [...readRoutes, ...writtenAreas.flatMap(writtenRoutes)];

/** The ids are generated from the tables above: handlers are bound by name at run time. */
export const resourceRoutes: readonly RouteContract[] = defineRoutes([
  ...fileServerAuth,
  ...files,
  ...files.map(proxied),
] as RouteContract[]);

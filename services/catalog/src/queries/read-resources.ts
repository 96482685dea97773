/** The file server (reference/rest-api.md 5.30): decides which files a caller may read, and finds their bytes. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BlobStore } from '@baton/blob-store';
import { hasPermission, isAdministrator, type Principal } from '@baton/contracts';
import type { ServedFile } from '@baton/http';
import { AppError, notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { PackedFile } from '../archive/pack-folder';
import { checkEntryPath } from '../domain/entry-rules';
import { INDEX_NAME } from '../domain/file-area';
import { type FileRow, findFile } from '../store/archives.sql';
import type { PluginHead } from '../store/plugins.sql';
import { findPluginIcon, findPluginYamls } from '../store/plugins.sql';
import { findIcon, findServedBlueprint, type Reading, type ServedBlueprint } from '../store/served-files.sql';
import type { DB } from '../store/tables.gen';
import { getBlueprint } from './read-blueprints';
import { listArchiveFolder } from './read-file';

export interface ResourceDeps {
  db: Db<DB>;
  blobs: BlobStore;
}

/** Path below the requested folder -> ISO time of the last change. */
export type FolderListing = Record<string, string>;

const ICON = 'icon.png';

/** Returns the rights by which the caller reads in the tenant of the request; null when it has none there. */
export function readingOf(principal: Principal): Reading {
  const { tenant, username, tenants } = principal;
  const isMember = hasPermission(principal, 'all_tenants') || tenants.some(({ name }) => name === tenant);
  if (tenant === '' || !isMember || !hasPermission(principal, 'file_server_auth')) return null;
  return { tenant, username, isAdministrator: isAdministrator(principal) };
}

export const refused = ({ username, tenant }: Principal): AppError =>
  new AppError(
    'forbidden_error',
    `User \`${username}\` is not permitted to perform the action file_server_auth in the tenant \`${tenant}\``,
  );

/**
 * Returns the blueprint `id` of the request's tenant. A caller without rights there gets only a global one, and the error does not
 * show whether the blueprint exists.
 * @throws AppError not_found_error, forbidden_error
 */
async function servedBlueprint(
  { db }: ResourceDeps,
  principal: Principal,
  id: string,
): Promise<ServedBlueprint> {
  const reading = readingOf(principal);
  const found = await findServedBlueprint(db.query, reading, principal.tenant, id);
  if (found !== null) return found;
  throw reading === null ? refused(principal) : notFound('Blueprint', id);
}

export const noFile = (path: string): AppError => notFound('File', path);

/** Returns a file of the unpacked blueprint, or the list of a folder (a path that ends with a slash). */
export async function blueprintResource(
  deps: ResourceDeps,
  principal: Principal,
  id: string,
  path: string,
): Promise<ServedFile | FolderListing> {
  const blueprint = await servedBlueprint(deps, principal, id);
  const checked = checkEntryPath(path);
  if (!checked.ok) throw noFile(path);
  const inside = checked.value;
  if (path === '' || path.endsWith('/')) return listBlueprint(deps, blueprint, inside);
  if (inside.split('/').at(-1) === INDEX_NAME)
    return listBlueprint(deps, blueprint, inside.slice(0, -INDEX_NAME.length).replace(/\/$/, ''));
  if (inside === ICON && blueprint.has_icon) {
    const icon = await findIcon(deps.db.query, principal.tenant, id);
    if (icon) return inMemory(ICON, icon, blueprint.updated_at);
  }
  const digest = blueprint.archive_digest;
  const file = digest === null ? null : await findFile(deps.db.query, digest, inside);
  if (file === null) throw noFile(path);
  return served(deps, file, blueprint.created_at);
}

const served = (deps: ResourceDeps, file: FileRow, modifiedAt: string): ServedFile =>
  file.content === null
    ? inStore(deps, file.path, file.size, file.blob_digest!, modifiedAt)
    : inMemory(file.path, file.content, modifiedAt);

/** Returns the files below a folder of the unpacked blueprint, to be packed. @throws AppError not_found_error, forbidden_error */
export async function blueprintFolder(
  deps: ResourceDeps,
  principal: Principal,
  id: string,
  path: string,
): Promise<PackedFile[]> {
  const blueprint = await servedBlueprint(deps, principal, id);
  const digest = blueprint.archive_digest;
  const { prefix, files } = await listArchiveFolder(deps, digest, path);
  if (files.length === 0) throw noFile(path);
  return files.map((file) => ({
    path: file.path.slice(prefix.length),
    size: file.size,
    mode: file.mode,
    modifiedAt: blueprint.created_at,
    open: async () => {
      const row = await findFile(deps.db.query, digest!, file.path);
      if (row === null) throw noFile(file.path);
      return served(deps, row, blueprint.created_at).open();
    },
  }));
}

async function listBlueprint(
  deps: ResourceDeps,
  blueprint: ServedBlueprint,
  folder: string,
): Promise<FolderListing> {
  const { prefix, files } = await listArchiveFolder(deps, blueprint.archive_digest, folder);
  const listing: FolderListing = {};
  for (const { path } of files) listing[path.slice(prefix.length)] = blueprint.created_at;
  if (folder === '' && blueprint.has_icon) listing[ICON] = blueprint.updated_at;
  if (folder !== '' && files.length === 0) throw noFile(`${folder}/`);
  return listing;
}

/** Returns the icon of a blueprint that the caller sees. @throws AppError not_found_error, also when it has none */
export async function blueprintIcon(
  { db }: Pick<ResourceDeps, 'db'>,
  principal: Principal,
  id: string,
): Promise<ServedFile> {
  const { tenant_name: tenant, updated_at } = await getBlueprint(db.query, principal, id, [
    'tenant_name',
    'updated_at',
  ]);
  const icon = await findIcon(db.query, String(tenant), id);
  if (icon === null) throw notFound('Icon of blueprint', id);
  // Its name makes it an image, whatever its bytes are, and no browser runs anything in it (packages/http/src/serve-file.ts).
  return inMemory(ICON, icon, String(updated_at));
}

/** Returns the archive as it was uploaded. @throws AppError not_found_error, forbidden_error */
export async function uploadedBlueprint(
  deps: ResourceDeps,
  principal: Principal,
  id: string,
  fileName: string,
): Promise<ServedFile> {
  if (readingOf(principal) === null) throw refused(principal);
  const {
    archive_digest: digest,
    archive_size: size,
    kind,
    created_at,
  } = await servedBlueprint(deps, principal, id);
  if (digest === null || size === null || fileName !== `${id}.${kind ?? 'zip'}`) throw noFile(fileName);
  return inStore(deps, fileName, size, digest, created_at);
}

/**
 * Returns the wagon, a yaml file or the icon of a plugin that the caller sees, or the list of their names.
 * @throws AppError not_found_error
 */
export async function pluginResource(
  deps: ResourceDeps,
  plugin: PluginHead,
  path: string,
): Promise<ServedFile | FolderListing> {
  const { uploaded_at: uploadedAt } = plugin;
  if (path === plugin.archive_name)
    return inStore(deps, path, plugin.wagon_size, plugin.wagon_digest, uploadedAt);
  const icon = plugin.has_icon && path === ICON ? await findPluginIcon(deps.db.query, plugin.id) : null;
  if (icon !== null) return inMemory(ICON, icon, uploadedAt);
  const yamls = await findPluginYamls(deps.db.query, plugin.id);
  if (path === '' || path === INDEX_NAME)
    return Object.fromEntries(
      [plugin.archive_name, ...yamls.map((y) => y.file_name), ...(plugin.has_icon ? [ICON] : [])].map(
        (name) => [name, uploadedAt],
      ),
    );
  const yaml = yamls.find((y) => y.file_name === path);
  if (yaml === undefined) throw noFile(path);
  return inMemory(path, Buffer.from(yaml.content, 'utf8'), uploadedAt);
}

export function inMemory(name: string, content: Buffer, modifiedAt: string): ServedFile {
  return {
    name,
    size: content.length,
    tag: createHash('sha256').update(content).digest('hex'),
    modifiedAt,
    open: (range) =>
      Readable.from([range ? content.subarray(range.start, range.end + 1) : content], { objectMode: false }),
  };
}

export function inStore(
  { blobs }: Pick<ResourceDeps, 'blobs'>,
  name: string,
  size: number,
  digest: string,
  modifiedAt: string,
): ServedFile {
  return { name, size, tag: digest, modifiedAt, open: (range) => blobs.open(digest, range) };
}

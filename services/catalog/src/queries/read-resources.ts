/** The file server (reference/rest-api.md 5.30): who may read which file, and where its bytes are. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BlobStore } from '@baton/blob-store';
import { hasPermission, isAdministrator, type Principal, type ResourceUri } from '@baton/contracts';
import type { ServedFile } from '@baton/http';
import { AppError, notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { checkEntryPath } from '../domain/entry-rules';
import { findFile, listFolder } from '../store/archives.sql';
import type { PluginHead } from '../store/plugins.sql';
import { findPluginYamls } from '../store/plugins.sql';
import { findIcon, findServedBlueprint, type Reading, type ServedBlueprint } from '../store/served-files.sql';
import type { DB } from '../store/tables.gen';

export interface ResourceDeps {
  db: Db<DB>;
  blobs: BlobStore;
}

/** Path below the folder that was asked for -> ISO time of the last change. */
export type FolderListing = Record<string, string>;

const ICON = 'icon.png';
/** Clients of the original ask folders for this file, too. */
const INDEX = '.cloudify-index.json';

/** How the caller reads in the tenant of the request; null: it has no rights there. */
export function readingOf(principal: Principal): Reading {
  const { tenant, username, tenants } = principal;
  const isMember = hasPermission(principal, 'all_tenants') || tenants.some(({ name }) => name === tenant);
  if (tenant === '' || !isMember || !hasPermission(principal, 'file_server_auth')) return null;
  return { tenant, username, isAdministrator: isAdministrator(principal) };
}

const refused = ({ username, tenant }: Principal): AppError =>
  new AppError(
    'forbidden_error',
    `User \`${username}\` is not permitted to perform the action file_server_auth in the tenant \`${tenant}\``,
  );

/**
 * The blueprint `id` of the request's tenant. Without rights there only a global one; that there is none is not told.
 * @throws AppError not_found_error, forbidden_error
 */
export async function servedBlueprint(
  { db }: ResourceDeps,
  principal: Principal,
  id: string,
): Promise<ServedBlueprint> {
  const reading = readingOf(principal);
  const found = await findServedBlueprint(db.query, reading, principal.tenant, id);
  if (found !== null) return found;
  throw reading === null ? refused(principal) : notFound('Blueprint', id);
}

const noFile = (path: string): AppError => notFound('File', path);

/** A file of the unpacked blueprint, or what lies below a folder (a path that ends with a slash). */
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
  if (inside.split('/').at(-1) === INDEX)
    return listBlueprint(deps, blueprint, inside.slice(0, -INDEX.length).replace(/\/$/, ''));
  if (inside === ICON && blueprint.has_icon) {
    const icon = await findIcon(deps.db.query, principal.tenant, id);
    if (icon) return inMemory(ICON, icon, blueprint.updated_at);
  }
  const digest = blueprint.archive_digest;
  const file = digest === null ? null : await findFile(deps.db.query, digest, inside);
  if (file === null) throw noFile(path);
  if (file.content !== null) return inMemory(inside, file.content, blueprint.created_at);
  return inStore(deps, inside, file.size, file.blob_digest!, blueprint.created_at);
}

async function listBlueprint(
  { db }: ResourceDeps,
  blueprint: ServedBlueprint,
  folder: string,
): Promise<FolderListing> {
  const prefix = folder === '' ? '' : `${folder}/`;
  const digest = blueprint.archive_digest;
  const rows = digest === null ? [] : await listFolder(db.query, digest, prefix);
  const listing: FolderListing = {};
  for (const { path } of rows) listing[path.slice(prefix.length)] = blueprint.created_at;
  if (folder === '' && blueprint.has_icon) listing[ICON] = blueprint.updated_at;
  if (folder !== '' && rows.length === 0) throw noFile(prefix);
  return listing;
}

/** The archive as it was uploaded. @throws AppError not_found_error, forbidden_error */
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

/** The wagon or a yaml file of a plugin that the caller sees, or the names of both. @throws AppError not_found_error */
export async function pluginResource(
  deps: ResourceDeps,
  plugin: PluginHead,
  path: string,
): Promise<ServedFile | FolderListing> {
  const { uploaded_at: uploadedAt } = plugin;
  if (path === plugin.archive_name)
    return inStore(deps, path, plugin.wagon_size, plugin.wagon_digest, uploadedAt);
  const yamls = await findPluginYamls(deps.db.query, plugin.id);
  if (path === '' || path === INDEX)
    return Object.fromEntries(
      [plugin.archive_name, ...yamls.map((y) => y.file_name)].map((name) => [name, uploadedAt]),
    );
  const yaml = yamls.find((y) => y.file_name === path);
  if (yaml === undefined) throw noFile(path);
  return inMemory(path, Buffer.from(yaml.content, 'utf8'), uploadedAt);
}

function inMemory(name: string, content: Buffer, modifiedAt: string): ServedFile {
  return {
    name,
    size: content.length,
    tag: createHash('sha256').update(content).digest('hex'),
    modifiedAt,
    open: (range) =>
      Readable.from([range ? content.subarray(range.start, range.end + 1) : content], { objectMode: false }),
  };
}

function inStore(
  { blobs }: ResourceDeps,
  name: string,
  size: number,
  digest: string,
  modifiedAt: string,
): ServedFile {
  return { name, size, tag: digest, modifiedAt, open: (range) => blobs.open(digest, range) };
}

/**
 * Whether the caller may read what `uri` names; the tenant of the request is the one in it. What is served through
 * endpoints of its own (plugins, snapshots, log bundles) is not open to a proxy.
 * @throws AppError forbidden_error
 */
export async function checkResourceUri(
  deps: ResourceDeps,
  principal: Principal,
  uri: ResourceUri | null,
): Promise<void> {
  if (uri !== null && uri.tenant === principal.tenant) {
    if (uri.root === 'global-resources' || uri.root === 'packages') return;
    if (uri.tenant !== '' && uri.root !== 'blueprints' && readingOf(principal) !== null) return;
    if (uri.root === 'blueprints' && uri.rest[0]) {
      if (await findServedBlueprint(deps.db.query, readingOf(principal), uri.tenant, uri.rest[0])) return;
    }
  }
  throw refused(principal);
}

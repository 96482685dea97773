/** POST /plugins: checks the wagon or TypeScript plugin and its yaml files, stores both. Nothing is installed here (reference 5.18). */

import type { BlobStore } from '@baton/blob-store';
import {
  type FindUser,
  type Ownership,
  type Principal,
  type Visibility,
  visibilityOfNew,
} from '@baton/contracts';
import { choosePluginYaml, type YamlFault } from '@baton/dsl';
import type { SafeFetch } from '@baton/http';
import { AppError, type Clock, type Json, newId, type Result } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { CpuPool } from '@baton/service-runtime';
import { isBundled, isBundledUrl, readBundled } from '../adapters/bundled-plugins';
import { type PluginUpload, readPluginUpload } from '../archive/read-plugin';
import { type Spool, spool } from '../archive/spool';
import type { ArchiveLimits } from '../domain/archive-limits';
import { ArchiveRefused } from '../domain/entry-rules';
import {
  checkPluginYamls,
  invalidPlugin,
  type PluginExtras,
  type PluginPackage,
  type PluginYaml,
} from '../domain/plugin-package';
import type { ThreadTask } from '../parse/protocol';
import { insertPlugin, lockPackage, type NewPlugin, rivalPackage } from '../store/plugins.sql';
import { requireStorage } from '../store/storage.sql';
import type { DB } from '../store/tables.gen';
import { judgedSigner } from './judge-signer';
import { alreadyThere, replaceBuild, requireDevelopment } from './replace-build';
import { storeLoose } from './store-loose';

export interface PluginDeps {
  /** Most bytes that a tenant may keep; null: any number. */
  storageLimit: (tenant: string) => number | null;
  db: Db<DB>;
  blobs: BlobStore;
  clock: Clock;
  fetch: SafeFetch;
  pool: Pick<CpuPool, 'run'>;
  pluginLimits: ArchiveLimits;
  downloadMs: number;
  findUser: FindUser;
  /** Whether the configuration asks for trusted signatures in all tenants. */
  requiresSignatures: boolean;
  /** Whether builds of authors at work are taken, and replaced. */
  takesDevelopment: boolean;
  /** Folder with the packages that come with Baton; it may be missing. */
  bundledFolder: string;
}

export interface PluginRequest {
  url: string | null;
  title: string | null;
  visibility: Visibility | undefined;
  isPrivate: boolean | undefined;
  id: string | null;
  owner: Ownership;
  /** A build of an author at work, which replaces the last one of the same version. */
  isDevelopment: boolean;
}

async function obtain(
  deps: PluginDeps,
  request: PluginRequest,
  body: AsyncIterable<Buffer> | null,
  signal: AbortSignal,
): Promise<Spool> {
  const maxBytes = deps.pluginLimits.maxArchiveBytes;
  if (body !== null) return spool(body, maxBytes);
  if (isBundledUrl(request.url!)) return spool(await readBundled(deps.bundledFolder, request.url!), maxBytes);
  return spool(
    await deps.fetch(
      request.url!,
      { maxBytes, totalMs: deps.downloadMs, field: 'plugin_archive_url' },
      signal,
    ),
    maxBytes,
  );
}

async function readYamls(
  deps: Pick<PluginDeps, 'pool'>,
  wagon: PluginPackage,
  yamls: readonly PluginYaml[],
): Promise<PluginExtras> {
  if (yamls.length === 0) return { labels: null, blueprint_labels: null, resource_tags: null };
  const results = await deps.pool.run<Result<Json, YamlFault>[]>({
    kind: 'yaml',
    texts: yamls.map((y) => y.content),
  } satisfies ThreadTask);
  const documents = results.map((result, i) => {
    const fileName = yamls[i]!.fileName;
    if (result.ok) return { fileName, document: result.value };
    const { message, line, column } = result.error;
    throw invalidPlugin(`${fileName}:${line}:${column}: ${message}`, { entry: fileName, line, column });
  });
  return checkPluginYamls(wagon, documents);
}

/**
 * Adds the yaml file that blueprints of version 1_3 read. When the author has written none, it is derived from the file that they
 * would read otherwise, if that file uses newer features.
 */
async function withYaml13(
  deps: Pick<PluginDeps, 'pool'>,
  yamls: readonly PluginYaml[],
): Promise<PluginYaml[]> {
  const names = yamls.map((y) => y.fileName).sort();
  if (names.some((name) => name.endsWith('_1_3.yaml'))) return [...yamls];
  const chosen = choosePluginYaml(names, '1_3') ?? names[0];
  const newer = yamls.find((y) => y.fileName === chosen);
  if (newer === undefined) return [];
  const content = await deps.pool.run<string | null>({
    kind: 'pluginYaml13',
    text: newer.content,
  } satisfies ThreadTask);
  return content === null ? [...yamls] : [...yamls, { fileName: 'plugin_1_3.yaml', content }];
}

async function readUpload(
  deps: Pick<PluginDeps, 'pluginLimits' | 'clock'>,
  archive: Spool,
): Promise<PluginUpload> {
  try {
    return await readPluginUpload(archive, deps.pluginLimits, deps.clock);
  } catch (error) {
    if (error instanceof ArchiveRefused)
      throw invalidPlugin(error.message, { entry: error.fault.entry, expected: error.fault.expected });
    throw error;
  }
}

/** What an upload stores of an archive, and what it has read of it. */
type PreparedPlugin = Pick<
  NewPlugin,
  'wagon' | 'archive' | 'yamls' | 'icon' | 'is_bundled' | keyof PluginExtras
> & {
  upload: Pick<PluginUpload, 'package' | 'signer'>;
};

/**
 * Checks a plugin archive and stores its contents as loose blobs. `judge` may refuse the package before they are stored.
 * @throws AppError invalid_plugin_error naming the entry
 */
export async function preparePlugin(
  deps: Pick<PluginDeps, 'db' | 'blobs' | 'clock' | 'pool' | 'pluginLimits' | 'bundledFolder'>,
  archive: Spool,
  judge: (found: PluginPackage) => void = () => undefined,
): Promise<PreparedPlugin> {
  const upload = await readUpload(deps, archive);
  try {
    judge(upload.package);
    await readYamls(deps, upload.package, upload.checkedYamls);
    const extras = await readYamls(deps, upload.package, upload.yamls);
    const yamls = await withYaml13(deps, upload.yamls);
    const wagon = await storeLoose(deps, upload.wagon.stream());
    const bundle = upload.isBundle ? await storeLoose(deps, archive.stream()) : null;
    const is_bundled = await isBundled(deps.bundledFolder, upload.package.archive_name, wagon.digest);
    return { ...extras, wagon, archive: bundle, yamls, icon: upload.icon, is_bundled, upload };
  } finally {
    if (upload.isBundle) await upload.wagon.dispose();
  }
}

/**
 * Uploads a plugin; returns its id. A crash leaves loose blobs for the sweep.
 * @throws AppError invalid_plugin_error naming the entry, conflict_error when package and archive name exist already.
 */
export async function uploadPlugin(
  deps: PluginDeps,
  principal: Principal,
  request: PluginRequest,
  body: AsyncIterable<Buffer> | null,
  signal: AbortSignal,
): Promise<string> {
  const visibility = visibilityOfNew(principal, request.visibility, request.isPrivate);
  const archive = await obtain(deps, request, body, signal);
  try {
    if (archive.size === 0)
      throw new AppError('bad_parameters_error', 'No archive: the body is empty', {
        field: 'plugin_archive_url',
        expected: 'an archive as body, or plugin_archive_url',
      });
    const { upload, ...plugin } = await preparePlugin(deps, archive, (found) => {
      if (request.isDevelopment) requireDevelopment(deps, found, visibility);
    });
    const wagonPackage = upload.package;
    const id = request.id ?? newId();
    await deps.db.tx(async (tx) => {
      await lockPackage(tx, wagonPackage.package_name, wagonPackage.archive_name);
      const rival = await rivalPackage(tx, principal.tenant, wagonPackage, visibility === 'global', null);
      if (rival && !request.isDevelopment)
        throw alreadyThere(wagonPackage, rival.wagon_digest === plugin.wagon.digest);
      if (rival) await replaceBuild(tx, principal, rival, wagonPackage);
      const signer = await judgedSigner(deps, tx, principal.tenant, upload);
      await insertPlugin(tx, {
        ...signer,
        ...wagonPackage,
        ...plugin,
        id,
        tenant: principal.tenant,
        created_by: request.owner.createdBy,
        uploaded_at: request.owner.createdAt,
        visibility,
        title: request.title ?? wagonPackage.package_name,
      });
      await requireStorage(tx, principal.tenant, deps.storageLimit(principal.tenant));
    });
    return id;
  } finally {
    await archive.dispose();
  }
}

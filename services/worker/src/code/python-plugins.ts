import { createHash } from 'node:crypto';
import { chown, copyFile, mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Account } from '@baton/isolation';
import { type Clock, isAppError, newId, nullIfNotFound } from '@baton/kernel';
import { installPlugin, type PluginInstallation, type ScriptSettings } from '@baton/plugin-runtime';
import { FatalError, RetryableError } from '@baton/plugin-sdk';
import { LRUCache } from 'lru-cache';
import type { CatalogClient, DeclaredPlugin } from '../adapters/catalog.client';
import { downloaded, type SafeFetch } from '../adapters/safe-fetch';
import { type BlueprintFiles, remembered } from '../files/blueprint-files';
import type { FileCache } from '../files/file-cache';
import type { InstalledPlugins } from './installed-plugins';
import { isModuleArchive, type ModulePlugins } from './module-plugins';

export interface PythonPluginsDeps {
  catalog: Pick<CatalogClient, 'declaredPlugins' | 'findPlugin' | 'readWagon' | 'digest'>;
  files: BlueprintFiles;
  cache: FileCache;
  fetchUrl: SafeFetch;
  modules: ModulePlugins;
  settings: ScriptSettings;
  clock: Clock;
}

/** How long the declared plugins of a blueprint are cached: an update of its plugins changes them. */
const DECLARED_MS = 10_000;
const INSTALL_MS = 30 * 60_000;
/** An environment that is unused for this long is removed. */
const UNUSED_MS = 14 * 24 * 3600_000;

type Declared = LRUCache<string, Promise<ReadonlyMap<string, DeclaredPlugin>>>;

/**
 * Manages Python plugins as virtual environments on this machine, shared by its workers; uploaded TypeScript plugins are passed to
 * `modules`. An uploaded plugin is identified by the digest of its wagon; a plugin in the blueprint's folder plugins/ (or given by an address) by the digest of the blueprint.
 */
export function createPythonPlugins(deps: PythonPluginsDeps): InstalledPlugins {
  const { catalog, clock, settings } = deps;
  const root = join(settings.workRoot, 'plugins');
  const declared: Declared = new LRUCache({ max: 1_000, ttl: DECLARED_MS });
  const installing = new Map<string, Promise<void>>();

  const declaredBy = (tenant: string, blueprintId: string) =>
    remembered(declared, `${tenant}/${blueprintId}`, () => catalog.declaredPlugins(tenant, blueprintId));
  /** Creates `target` unless it exists; concurrent callers share one installation. */
  const ensure = async (
    tenant: string,
    plugin: DeclaredPlugin,
    target: string,
    prepare: () => Promise<Prepared>,
  ) => {
    const now = new Date(clock.now());
    const isThere = await utimes(target, now, now).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    const running =
      installing.get(target) ??
      install(deps, tenant, plugin, target, prepare).finally(() => installing.delete(target));
    installing.set(target, running);
    await running;
    await removeUnused(root, clock.now());
  };

  return {
    of: async (tenant, blueprintId, name, signal) => {
      const plugin = (await declaredBy(tenant, blueprintId)).get(name);
      if (!plugin?.isInstalled) return null;
      const uploaded =
        plugin.packageName === '' ? null : await catalog.findPlugin(tenant, plugin).catch(refused);
      if (uploaded) {
        const archive = () =>
          deps.cache.locate(uploaded.digest, 'wagon', () => catalog.readWagon(tenant, uploaded.id));
        if (isModuleArchive(uploaded.archiveName))
          return { ...(await deps.modules.of(uploaded.digest, archive)), properties: plugin.properties };
        const target = join(root, 'wagons', uploaded.digest.replaceAll(/[^\w-]/g, '_'));
        await ensure(tenant, plugin, target, async () => ({
          kind: 'wagon',
          path: await archive(),
          done: async () => undefined,
        }));
        return { kind: 'python', prefix: target, properties: plugin.properties };
      }
      if (plugin.source === '')
        throw new FatalError(
          `no uploaded plugin fits ${plugin.packageName}${plugin.packageVersion && ` ${plugin.packageVersion}`} of plugin ${name}, and it has no source`,
        );
      const blueprint = await catalog.digest(tenant, blueprintId);
      const key = createHash('sha256').update(
        JSON.stringify([tenant, blueprint, plugin.source, plugin.pipArguments]),
      );
      const target = join(root, 'sources', folderOf(tenant), key.digest('hex'));
      await ensure(tenant, plugin, target, () =>
        placeSource(deps, { tenant, blueprintId, plugin, root, signal }),
      );
      return { kind: 'python', prefix: target, properties: plugin.properties };
    },
  };
}

/** A plugin whose key is revoked does not run, however often it is tried. */
function refused(error: unknown): never {
  throw isAppError(error, 'forbidden_error') ? new FatalError(error.message, { cause: error }) : error;
}

interface Prepared extends Pick<PluginInstallation, 'kind' | 'path'> {
  done: () => Promise<void>;
}

async function install(
  { settings }: PythonPluginsDeps,
  tenant: string,
  { name, pipArguments }: DeclaredPlugin,
  target: string,
  prepare: () => Promise<Prepared>,
): Promise<void> {
  const { kind, path, done } = await prepare();
  try {
    if (kind === 'source') await ownedFolder(dirname(target), settings.isolation.accountOf(tenant));
    const failure = await installPlugin(
      { tenant, kind, path, target, pipArguments },
      settings,
      AbortSignal.timeout(INSTALL_MS),
    );
    if (failure === null) return;
    const text = `plugin ${name} cannot be installed: ${failure}`;
    // A wagon has all its contents, so a retry would not help; a download by pip may succeed at the next try.
    throw kind === 'wagon' ? new FatalError(text) : new RetryableError(text);
  } finally {
    await done();
  }
}

/** Prepares the source for pip: the folder plugins/<source> of the blueprint, the archive plugins/<source>.zip, or an address. */
async function placeSource(
  deps: PythonPluginsDeps,
  which: { tenant: string; blueprintId: string; plugin: DeclaredPlugin; root: string; signal: AbortSignal },
): Promise<Prepared> {
  const { tenant, blueprintId, plugin, root, signal } = which;
  const account = deps.settings.isolation.accountOf(tenant);
  const folder = join(root, 'building', newId());
  await ownedFolder(folder, account);
  const done = () => rm(folder, { recursive: true, force: true });
  const placed = async (path: string): Promise<Prepared> => {
    if (account) await handOver(folder, account);
    return { kind: 'source', path, done };
  };
  try {
    if (/^https?:\/\//.test(plugin.source)) {
      const archive = join(folder, plugin.source.endsWith('.zip') ? 'source.zip' : 'source.tar.gz');
      await writeFile(archive, await downloaded(deps.fetchUrl, plugin.source, signal));
      return await placed(archive);
    }
    const inside = `plugins/${plugin.source}`;
    const paths = await nullIfNotFound(deps.files.list(tenant, blueprintId, inside));
    for (const path of paths ?? []) {
      const place = join(folder, 'source', path);
      await mkdir(dirname(place), { recursive: true });
      await copyFile(await deps.files.locate(tenant, blueprintId, `${inside}/${path}`), place);
    }
    if (paths) return await placed(join(folder, 'source'));
    const archive = await nullIfNotFound(deps.files.locate(tenant, blueprintId, `${inside}.zip`));
    if (archive === null)
      throw new FatalError(
        `plugin ${plugin.name} has the source ${plugin.source}, but the blueprint has neither a folder ${inside} nor ${inside}.zip`,
      );
    await copyFile(archive, join(folder, 'source.zip'));
    return await placed(join(folder, 'source.zip'));
  } catch (error) {
    await done();
    throw error;
  }
}

/** Each tenant has its own folder, because files built by pip belong to the tenant's account. */
const folderOf = (tenant: string): string => encodeURIComponent(tenant).replaceAll('.', '%2E');

/** Creates a folder in which the account of scripts may write. */
async function ownedFolder(path: string, account: Account | null): Promise<void> {
  await mkdir(path, { recursive: true, mode: account ? 0o711 : 0o700 });
  if (account) await chown(path, account.uid, account.gid);
}

async function handOver(folder: string, account: Account): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chown(join(entry.parentPath, entry.name), account.uid, account.gid);
}

async function removeUnused(root: string, nowMs: number): Promise<void> {
  const tenants = await readdir(join(root, 'sources')).catch(() => []);
  for (const folder of ['wagons', 'building', ...tenants.map((name) => join('sources', name))])
    for (const name of await readdir(join(root, folder)).catch(() => [])) {
      const path = join(root, folder, name);
      const found = await stat(path).catch(() => null);
      if (found && found.mtimeMs < nowMs - UNUSED_MS) await rm(path, { recursive: true, force: true });
    }
}

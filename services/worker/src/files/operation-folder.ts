import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isAppError, newId } from '@baton/kernel';
import type { CatalogClient, FolderContents, FolderName } from '../adapters/catalog.client';
import type { FileCache } from './file-cache';
import type { FolderIndex } from './folder-index';
import { type Account, makeFolder, openInside, scanTree } from './local-tree';
import { bringDown, bringUp } from './working-folder';

/** The working folder of a deployment, as one operation uses it. */
export interface OperationFolder {
  /** Returns the path of its copy on this machine. Creates the folder; `open` fetches the files. */
  place(): Promise<string>;
  /** Returns the path of its copy on this machine; the first call of the operation brings the copy up to date. */
  open(): Promise<string>;
  /** Returns the local path of one of its files, valid until `settle`; the file must not be changed. Null when there is none. */
  locate(path: string): Promise<string | null>;
  /** Returns the paths of files below one of its folders, relative to that; null when there are none. */
  list(path: string): Promise<string[] | null>;
  /** Stores the changes of the operation; does nothing when it never opened the folder. @throws FatalError, AppError */
  settle(): Promise<void>;
}

export interface OperationFolders {
  of(tenant: string, deploymentId: string, mayWrite: () => boolean): OperationFolder;
  /**
   * Returns the local path of a file that clients have stored beside blueprints: `tenant-resources/<tenant>/...`,
   * `global-resources/...`.
   */
  locateShared(tenant: string, path: string): Promise<string | null>;
  /** Returns the paths of files below such a folder, relative to it; null when there are none. */
  listShared(tenant: string, path: string): Promise<string[] | null>;
}

export interface OperationFoldersDeps {
  catalog: CatalogClient;
  index: FolderIndex;
  cache: FileCache;
  accountOf: (tenant: string) => Account;
  /** Used by this process alone. */
  copiesDir: string;
}

/** Escapes a name so that it cannot lead out of its folder. */
const safe = (name: string): string => encodeURIComponent(name).replaceAll('.', '%2E') || '_';

export function createOperationFolders(deps: OperationFoldersDeps): OperationFolders {
  const { index, cache, catalog } = deps;
  const inLine = createLines();
  const locateStored = async (folder: FolderName, path: string): Promise<string | null> => {
    for (let left = 3; ; left--) {
      const file = (await index.read(folder)).files.get(path);
      if (file === undefined) return null;
      try {
        return await cache.locate(file.digest, path, () => catalog.readStored(folder, path, file.digest));
      } catch (error) {
        // The file was replaced since the list was read: the next list has its new digest.
        if (left <= 1 || !isAppError(error, 'not_found_error')) throw error;
      }
    }
  };
  return {
    of: (tenant, deploymentId, mayWrite) =>
      operationFolder({ ...deps, inLine, locateStored }, tenant, deploymentId, mayWrite),
    locateShared: async (tenant, path) => {
      const shared = sharedPlace(tenant, path);
      return shared && locateStored(shared.folder, shared.path);
    },
    listShared: async (tenant, path) => {
      const shared = sharedPlace(tenant, `${path}/`);
      return shared && below(shared.path, (await index.read(shared.folder)).files);
    },
  };
}

interface Lookups extends OperationFoldersDeps {
  inLine: ReturnType<typeof createLines>;
  locateStored: (folder: FolderName, path: string) => Promise<string | null>;
}

function operationFolder(
  deps: Lookups,
  tenant: string,
  deploymentId: string,
  mayWrite: () => boolean,
): OperationFolder {
  const { index, catalog, inLine, locateStored } = deps;
  const folder: FolderName = { area: 'deployments', tenant, folder: deploymentId };
  const dir = join(deps.copiesDir, safe(tenant), safe(deploymentId));
  let opening: Promise<FolderContents> | null = null;
  const work = { catalog, index, account: deps.accountOf(tenant) };
  const make = (): Promise<string> =>
    makeFolder(deps.copiesDir, [safe(tenant), safe(deploymentId)], work.account);
  const open = async (): Promise<FolderContents> => {
    await make();
    return bringDown(work, folder, dir);
  };
  const taken: string[] = [];
  return {
    place: make,
    open: async () => {
      opening ??= inLine(dir, open);
      try {
        await opening;
      } catch (error) {
        opening = null;
        throw error;
      }
      return dir;
    },
    locate: async (path) => {
      if (opening === null) return locateStored(folder, path);
      const copy = await takeCopy(dir, path, deps.copiesDir);
      if (copy !== null) taken.push(copy);
      return copy;
    },
    list: async (path) =>
      below(path, opening === null ? (await index.read(folder)).files : await scanTree(dir)),
    settle: async () => {
      for (const copy of taken.splice(0)) await rm(copy, { force: true });
      if (opening === null) return;
      const opened = await opening;
      await inLine(dir, () => bringUp(work, folder, dir, opened, mayWrite));
    },
  };
}

/**
 * Copies a file to a place where no operation can replace it while it is read. The copy is deleted by `settle`, or with the
 * copies of this process (sweepOwnDirs). Null when there is no such file.
 */
async function takeCopy(dir: string, path: string, copiesDir: string): Promise<string | null> {
  const file = await openInside(dir, path);
  if (file === null) return null;
  const copy = join(copiesDir, `taken-${newId()}`);
  try {
    await pipeline(file.createReadStream({ autoClose: false }), createWriteStream(copy, { mode: 0o600 }));
    return copy;
  } catch (error) {
    await rm(copy, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

function sharedPlace(tenant: string, path: string): { folder: FolderName; path: string } | null {
  const [, own, inTenant] = /^tenant-resources\/([^/]+)\/(.+)$/.exec(path) ?? [];
  if (own === tenant) return { folder: { area: 'tenant-resources', tenant, folder: '' }, path: inTenant! };
  const inAll = /^global-resources\/(.+)$/.exec(path)?.[1];
  return inAll === undefined
    ? null
    : { folder: { area: 'global-resources', tenant: '', folder: '' }, path: inAll };
}

/** Returns the paths of `files` below a folder, relative to it, in order; null when there are none. */
function below(folder: string, files: ReadonlyMap<string, unknown>): string[] | null {
  const prefix = `${folder.replace(/\/+$/, '')}/`;
  const inside = [...files.keys()].filter((path) => path.startsWith(prefix));
  return inside.length === 0 ? null : inside.map((path) => path.slice(prefix.length)).sort();
}

/** Returns a function that runs the calls for the same name one after the other. */
function createLines(): <T>(name: string, run: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (name, run) => {
    const mine = (last.get(name) ?? Promise.resolve()).then(run, run);
    const settled = mine.catch(() => undefined);
    last.set(name, settled);
    void settled.then(() => {
      if (last.get(name) === settled) last.delete(name);
    });
    return mine;
  };
}

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

/** The working folder of a deployment as one operation sees it. */
export interface OperationFolder {
  /** Where its copy is or will be: the folder is made, its files come with `open`. */
  place(): Promise<string>;
  /** Its copy on this machine, up to date when the operation asks first. */
  open(): Promise<string>;
  /** Local path of a file of it, not to be changed, good until `settle`; null: there is none. */
  locate(path: string): Promise<string | null>;
  /** Paths below a folder of it, inside of that; null: there is none. */
  list(path: string): Promise<string[] | null>;
  /** Stores what the operation has changed; nothing where it never opened the folder. @throws FatalError, AppError */
  settle(): Promise<void>;
}

export interface OperationFolders {
  of(tenant: string, deploymentId: string, mayWrite: () => boolean): OperationFolder;
  /** A file that clients have put beside blueprints: `tenant-resources/<tenant>/...`, `global-resources/...`. */
  locateShared(tenant: string, path: string): Promise<string | null>;
  /** Paths below such a folder, inside of it; null: there is none. */
  listShared(tenant: string, path: string): Promise<string[] | null>;
}

export interface OperationFoldersDeps {
  catalog: CatalogClient;
  index: FolderIndex;
  cache: FileCache;
  accountOf: (tenant: string) => Account;
  /** Of this process alone. */
  copiesDir: string;
}

/** Names cannot lead out of their folder. */
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
        // Replaced since the list was read: the next list says by what.
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
 * The file as it is now, where no operation can put something else in its place while it is read; gone with `settle`, or
 * with the copies of this process (sweepOwnDirs). Null: there is none.
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

/** Paths of `files` below a folder, inside of it, in order; null: there are none. */
function below(folder: string, files: ReadonlyMap<string, unknown>): string[] | null {
  const prefix = `${folder.replace(/\/+$/, '')}/`;
  const inside = [...files.keys()].filter((path) => path.startsWith(prefix));
  return inside.length === 0 ? null : inside.map((path) => path.slice(prefix.length)).sort();
}

/** Runs what belongs to one name one after the other. */
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

import { LRUCache } from 'lru-cache';
import type { CatalogClient, FolderContents, FolderName } from '../adapters/catalog.client';

export interface FolderIndex {
  /** Returns the present files of the folder: one small call, which transfers the list only when it has changed. */
  read(folder: FolderName): Promise<FolderContents>;
}

const KEPT = 500;

export function createFolderIndex(catalog: Pick<CatalogClient, 'folder'>): FolderIndex {
  const known = new LRUCache<string, FolderContents>({ max: KEPT });
  return {
    read: async (folder) => {
      const key = `${folder.area}/${folder.tenant}/${folder.folder}`;
      const before = known.get(key);
      // A folder that was never read has no version; 'unknown' equals none.
      const { isChanged, ...now } = await catalog.folder(folder, before?.version ?? 'unknown');
      // The limits are always the present ones, even when the files have not changed.
      const contents = isChanged ? now : { ...now, files: before!.files };
      known.set(key, contents);
      return contents;
    },
  };
}

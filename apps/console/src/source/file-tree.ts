/** Paths of an archive as folders and files. Archives are untrusted input: names may be anything, and there may be many. */

export interface TreeFolder {
  name: string;
  /** Ends with a slash; '' for the archive itself. */
  path: string;
  folders: TreeFolder[];
  files: { name: string; path: string }[];
}

/** Returns the tree: folders before files, both sorted by name. */
export function treeOf(paths: readonly string[]): TreeFolder {
  const root: TreeFolder = { name: '', path: '', folders: [], files: [] };
  const byPath = new Map<string, TreeFolder>([['', root]]);
  for (const path of [...paths].sort(byName)) {
    const cut = path.lastIndexOf('/') + 1;
    folderAt(byPath, path.slice(0, cut)).files.push({ name: path.slice(cut), path });
  }
  sortFolders(root);
  return root;
}

const byName = (a: string, b: string): number => a.localeCompare(b) || (a < b ? -1 : 1);

function folderAt(byPath: Map<string, TreeFolder>, path: string): TreeFolder {
  const known = byPath.get(path);
  if (known) return known;
  const cut = path.lastIndexOf('/', path.length - 2) + 1;
  const folder: TreeFolder = { name: path.slice(cut, -1), path, folders: [], files: [] };
  byPath.set(path, folder);
  folderAt(byPath, path.slice(0, cut)).folders.push(folder);
  return folder;
}

function sortFolders(root: TreeFolder): void {
  const stack = [root];
  for (let folder = stack.pop(); folder; folder = stack.pop()) {
    folder.folders.sort((a, b) => byName(a.name, b.name));
    stack.push(...folder.folders);
  }
}

/** Whether the path lies in the folder. */
export const leadsTo = (folder: string, path: string | undefined): boolean =>
  path?.startsWith(folder) ?? false;

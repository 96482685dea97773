/** Names that differ only in letter case: archives may hold both (services/catalog, entry-rules.ts), not every disk can. */
import { lstat, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';

/** Answers per folder root; the oldest ones are dropped. */
const MAX_KNOWN = 500;
const known = new Map<string, Promise<boolean>>();

/**
 * Returns two of the paths that are one path in any letter case, or null. Folders count as well: on a disk that does not tell them
 * apart, the files of both would lie in one of them.
 */
export function caseTwins(paths: Iterable<string>): [string, string] | null {
  const spellings = new Map<string, string>();
  for (const path of paths) {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const part = path.slice(0, end);
      const other = spellings.get(part.toLowerCase());
      if (other === part) break;
      if (other !== undefined) return [other, part];
      spellings.set(part.toLowerCase(), part);
    }
  }
  return null;
}

/**
 * Checks that the disk below `root` can hold the files of `paths` beside each other. It is probed only when two of the paths need
 * it, once for each root: the probe writes an empty file and removes it.
 * @throws FatalError naming two paths that would become one file
 */
export async function requireCases(
  root: string,
  paths: Iterable<string>,
  probe: (root: string) => Promise<boolean> = tellsCases,
): Promise<void> {
  const twins = caseTwins(paths);
  if (twins === null || (await once(root, probe))) return;
  throw new FatalError(
    `${JSON.stringify(twins[0])} and ${JSON.stringify(twins[1])} differ only in letter case, and the disk at ${root} cannot hold both`,
  );
}

function once(root: string, probe: (root: string) => Promise<boolean>): Promise<boolean> {
  let answer = known.get(root);
  if (answer === undefined) {
    answer = probe(root);
    known.set(root, answer);
    // A failed probe says nothing: the next one asks again.
    answer.catch(() => known.delete(root));
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
  }
  return answer;
}

/** Whether the disk below an existing folder tells names apart that differ in letter case. */
export async function tellsCases(root: string): Promise<boolean> {
  const name = `.case-${newId()}`;
  await writeFile(join(root, name), '', { flag: 'wx', mode: 0o600 });
  try {
    return await lstat(join(root, name.toUpperCase())).then(
      () => false,
      () => true,
    );
  } finally {
    await rm(join(root, name), { force: true });
  }
}

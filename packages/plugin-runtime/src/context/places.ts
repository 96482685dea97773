import { copyFile, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { requireCases } from './letter-case';

/** A file for an operation: a local path that must not be changed, or a text. */
export type Given = { path: string } | { text: string };

/** Writes files for operations: directly for in-process ones, with the operation's rights and view of the machine for processes. */
export interface Places {
  /** Target default: `name` in a fresh folder. Returns the written path, as the operation knows it. */
  file(given: Given, name: string, target: string | null): Promise<string>;
  /** Files by their path inside the folder. Target default: a fresh folder. Returns the folder. */
  folder(
    files: readonly { inside: string; read: () => Promise<string> }[],
    target: string | null,
  ): Promise<string>;
}

/**
 * Writes with the rights of this process: for operations that run in it, which are the operator's own code. `tempDir`
 * is called when needed.
 */
export function ownPlaces(tempDir: () => Promise<string>): Places {
  const freshFolder = async (): Promise<string> => mkdtemp(join(await tempDir(), 'resource-'));
  return {
    file: async (given, name, target) => {
      const place = target ?? join(await freshFolder(), name);
      await mkdir(dirname(place), { recursive: true });
      await give(given, place);
      return place;
    },
    folder: async (files, target) => {
      const place = target ?? (await freshFolder());
      await mkdir(place, { recursive: true });
      await requireCases(
        place,
        files.map(({ inside }) => inside),
      );
      for (const { inside, read } of files) {
        const copy = join(place, inside);
        await mkdir(dirname(copy), { recursive: true });
        await copyFile(await read(), copy);
      }
      return place;
    },
  };
}

export async function give(given: Given, place: string): Promise<void> {
  if ('path' in given) await copyFile(given.path, place);
  else await writeFile(place, given.text);
}

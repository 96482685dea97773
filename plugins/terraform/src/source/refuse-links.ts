import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
import { isInside, shown } from './safe-path';

/** Most files that are looked at. */
const MAX_ENTRIES = 100_000;

/** @throws FatalError when a link in the folder leads out of it: terraform would read files of the machine as files of the module */
export async function refuseLinksOut(folder: string): Promise<void> {
  const top = await realpath(folder);
  let seen = 0;
  const walk = async (place: string, inside: string): Promise<void> => {
    for (const entry of await readdir(place, { withFileTypes: true })) {
      if (++seen > MAX_ENTRIES)
        throw new FatalError(`the source of the module has more than ${MAX_ENTRIES} files`);
      const [next, name] = [join(place, entry.name), join(inside, entry.name)];
      if (entry.isDirectory()) await walk(next, name);
      else if (entry.isSymbolicLink()) {
        const leadsTo = await realpath(next).catch(() => null);
        if (leadsTo === null || !isInside(top, leadsTo))
          throw new FatalError(
            `the source of the module holds the link ${shown(name)}, which leads out of it`,
          );
      } else if (!entry.isFile())
        throw new FatalError(`the source of the module holds ${shown(name)}, which is no file`);
    }
  };
  await walk(top, '');
}

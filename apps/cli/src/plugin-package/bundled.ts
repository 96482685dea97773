/** The plugins that come with this program: packages that the build of Baton has put beside it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nearestName } from '@baton/kernel';
import { CommandFailure } from '../failure';
import { entriesOfPackage } from './read-package';

export interface BundledPlugin {
  name: string;
  version: string;
  description: string;
  types: string[];
  file: string;
}

/** `bundled:NAME` in a command names a plugin that comes with this program; `bundled:all` names all of them. */
export const BUNDLED = 'bundled:';
const ALL = 'all';

/** Beside the bundle of this program; when it runs from its sources, where the build puts them. */
const PLACES = [join(__dirname, '../../plugins'), join(__dirname, '../../../../dist/plugins')];

/** Reads the packages, sorted by name. @throws CommandFailure when a package cannot be read */
export async function bundledPlugins(): Promise<BundledPlugin[]> {
  const folder = PLACES.find((place) => existsSync(place) && filesOf(place).length > 0);
  if (folder === undefined) return [];
  const found = filesOf(folder).map(async (name): Promise<BundledPlugin> => {
    const file = join(folder, name);
    const about = (await entriesOfPackage(readFileSync(file), file)).get('plugin.json');
    const { name: own, version, description = '', types = [] } = JSON.parse(String(about));
    return { name: own, version, description, types, file };
  });
  return (await Promise.all(found)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

const filesOf = (folder: string): string[] => readdirSync(folder).filter((name) => name.endsWith('.bplug'));

/**
 * Returns the plugins that `bundled:NAME` names. NAME is the name of the package, or its middle: `ansible` for
 * `cloudify-ansible-plugin`.
 * @throws CommandFailure with the nearest name
 */
export async function bundledNamed(path: string): Promise<BundledPlugin[]> {
  const wanted = path.slice(BUNDLED.length);
  const all = await bundledPlugins();
  if (all.length === 0)
    throw new CommandFailure('no plugins come with this program: it was built without them');
  if (wanted === ALL) return all;
  const found = all.find(({ name }) => name === wanted || shortName(name) === wanted);
  if (found) return [found];
  const names = all.map(({ name }) => shortName(name));
  const nearest = nearestName(wanted, names);
  throw new CommandFailure(
    `no plugin ${wanted} comes with this program; there are ${names.join(', ')}, and ${ALL}` +
      (nearest === null ? '' : `; did you mean ${BUNDLED}${nearest}?`),
  );
}

/** `ansible` for `cloudify-ansible-plugin`. */
export const shortName = (name: string): string => /^cloudify-(.+)-plugin$/.exec(name)?.[1] ?? name;

import type { Version } from '../schema/shape';
import type { ImportItem } from './import-items';
import type { LoadContext } from './load-context';
import { parsePluginSpec } from './plugin-spec';
import {
  type FoundPlugin,
  type FoundText,
  isRemote,
  isUnreadable,
  joinLocal,
  toUrl,
  versionedName,
} from './resolver';

export interface Fetched {
  /** Identity of the import, together with its namespace. */
  url: string;
  /** Base of its own relative imports, and its name in diagnostics. */
  location: string;
  text: string;
  /** Stored data of the installation about a plugin; null for other imports. */
  plugin: FoundPlugin | null;
}

/** Finds an import by the resolution order of reference 2.2. Null: reported as unreadable; 'seen': already merged. */
export async function fetchImport(
  item: ImportItem,
  importer: string | null,
  version: Version,
  context: LoadContext,
  isSeen: (url: string) => boolean,
): Promise<Fetched | 'seen' | null> {
  const { target } = item;
  if (target.startsWith('plugin:') && context.resolver.plugin)
    return fetchPlugin(item, version, context, isSeen);
  let why = '';
  for await (const url of candidates(target, importer, version, context)) {
    if (isSeen(url)) return 'seen';
    const found = await context.resolver.read(url);
    if (isUnreadable(found)) why = `${url === target ? '' : ` at ${url}`}: ${found.unreadable}`;
    else if (found !== null)
      return { url, location: locationOf(found, url), text: textOf(found), plugin: null };
  }
  context.diagnostics.report('import_failed', `the import "${target}" cannot be read${why}`, {
    at: item.node,
    path: item.path,
    value: target,
    expected: 'a file beside the blueprint, an address, or plugin:NAME',
  });
  return null;
}

const textOf = (found: string | FoundText): string => (typeof found === 'string' ? found : found.text);
const locationOf = (found: string | FoundText, url: string): string =>
  typeof found === 'string' ? url : (found.location ?? url);

async function* candidates(
  target: string,
  importer: string | null,
  version: Version,
  context: LoadContext,
): AsyncGenerator<string> {
  if (isRemote(target)) {
    yield target;
    return;
  }
  const exists = async (path: string): Promise<boolean> =>
    context.resolver.exists ? await context.resolver.exists(path) : false;
  const names = [versionedName(target, version), target];
  for (const name of names) {
    if (await exists(name)) {
      yield toUrl(name);
      break;
    }
  }
  if (importer !== null) yield importer.slice(0, importer.lastIndexOf('/') + 1) + target;
  if (context.resourcesBasePath !== null) {
    for (const name of names) {
      const path = joinLocal(context.resourcesBasePath, name);
      if (!(await exists(path))) continue;
      yield toUrl(path);
      break;
    }
  }
  for (const name of names) yield `resource:${name}`;
}

async function fetchPlugin(
  item: ImportItem,
  version: Version,
  context: LoadContext,
  isSeen: (url: string) => boolean,
): Promise<Fetched | 'seen' | null> {
  if (isSeen(item.target)) return 'seen';
  const spec = parsePluginSpec(item.target);
  const found = typeof spec === 'string' ? null : await context.resolver.plugin!(spec, version.join('_'));
  if (found !== null && !isUnreadable(found))
    return { url: item.target, location: found.location ?? item.target, text: found.text, plugin: found };
  const why = found === null ? '' : `: ${found.unreadable}`;
  const message = typeof spec === 'string' ? spec : `no installed plugin fits "${item.target}"${why}`;
  context.diagnostics.report('blueprint_import_failed', message, {
    at: item.node,
    path: item.path,
    value: item.target,
    expected: 'an installed plugin',
    ...(typeof spec !== 'string' && found?.valid ? { name: spec.name, valid: found.valid } : {}),
  });
  return null;
}

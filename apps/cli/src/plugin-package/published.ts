/** Finds what was published in the same version, and refuses a schema that has changed since. */
import { existsSync, readFileSync } from 'node:fs';
import { CommandFailure } from '../failure';
import type { ClientOf } from '../layer/declared-client';
import { schemaChanges } from './compare-schema';
import { entriesOfPackage } from './read-package';

/** The plugin.yaml of the published package, and where it is. */
export interface Published {
  where: string;
  yaml: string;
}

/** Returns what was published under this name and version; null: nothing. */
export type FindPublished = (name: string, version: string) => Promise<Published | null>;

const MOST_TOLD = 20;

/** Looks into a package. @throws CommandFailure when it cannot be read, or is of another plugin */
export function publishedInFile(file: string): FindPublished {
  return async (name, version) => {
    if (!existsSync(file)) throw new CommandFailure(`--against ${file}: there is no such file`);
    const entries = await entriesOfPackage(readFileSync(file), file);
    const about = JSON.parse(String(entries.get('plugin.json') ?? '{}')) as {
      name?: string;
      version?: string;
    };
    if (about.name !== name)
      throw new CommandFailure(`--against ${file}: it is a package of ${about.name}, not of ${name}`);
    return about.version === version ? { where: file, yaml: String(entries.get('plugin.yaml') ?? '') } : null;
  };
}

/** Asks the manager of the session. @throws ApiError, Error when it does not answer */
export function publishedAt(client: ClientOf<'listPlugins' | 'getPluginYaml'>, url: string): FindPublished {
  return async (name, version) => {
    const { items } = await client.call('listPlugins', {
      query: { package_name: name, package_version: version, _size: 1 },
    } as never);
    const [plugin] = items as { id: string }[];
    if (plugin === undefined) return null;
    const { body } = await client.download('getPluginYaml', { params: { plugin_id: plugin.id } });
    return { where: url, yaml: await new Response(body as ReadableStream).text() };
  };
}

/** @throws CommandFailure that names the properties which have changed */
export function requireSameSchema(published: Published, built: string, name: string, version: string): void {
  const changes = schemaChanges(published.yaml, built);
  if (changes.length === 0) return;
  const more = changes.length > MOST_TOLD ? [`and ${changes.length - MOST_TOLD} more`] : [];
  throw new CommandFailure(
    [
      `${name} ${version} is published already (${published.where}), and its schema has changed; a new release needs a new version in package.json:`,
      ...[...changes.slice(0, MOST_TOLD), ...more].map((line) => `  ${line}`),
    ].join('\n'),
  );
}

/** Reads a TypeScript plugin: one .bplug file, a tar.gz with fixed entries (docs/plugins.md). */
import type { Clock } from '@baton/kernel';
import type { ArchiveLimits } from '../domain/archive-limits';
import { ArchiveRefused } from '../domain/entry-rules';
import { MODULE_MAIN } from '../domain/module-manifest';
import { invalidPlugin, type PluginYaml } from '../domain/plugin-package';
import { type JudgedFile, judgedFiles, textOf } from './judged-entries';
import { archiveKind } from './read-entries';
import type { Spool } from './spool';

export const MODULE_MANIFEST = 'plugin.json';
const MODULE_YAML = 'plugin.yaml';
const EXPECTED = `${MODULE_MANIFEST}, ${MODULE_YAML}, ${MODULE_MAIN}, LICENSES.txt and files/...`;

export interface ModuleContents {
  manifest: string;
  yaml: PluginYaml;
}

const isAllowed = (path: string): boolean =>
  [MODULE_MANIFEST, MODULE_YAML, MODULE_MAIN, 'LICENSES.txt'].includes(path) || path.startsWith('files/');

/** Consumes the content, so that its real size is judged. Returns the number of bytes. */
async function sizeOf({ content }: JudgedFile): Promise<number> {
  let size = 0;
  for await (const chunk of content()) size += chunk.length;
  return size;
}

/**
 * Reads the whole archive and refuses everything that its format does not have: links, native addons, other entries.
 * @throws AppError invalid_plugin_error, ArchiveRefused naming the entry
 */
export async function readModule(
  archive: Spool,
  limits: ArchiveLimits,
  clock: Clock,
): Promise<ModuleContents> {
  const kind = await archiveKind(archive);
  if (kind !== 'tar.gz') throw invalidPlugin(`a TypeScript plugin is a tar.gz, this is a ${kind}`);
  const texts = new Map<string, string>();
  let mainBytes = 0;
  const onLink = (entry: { name: string }): never => {
    throw new ArchiveRefused({ message: 'a TypeScript plugin holds no links', entry: entry.name });
  };
  for await (const file of judgedFiles(archive, limits, clock, onLink)) {
    const { path, entry } = file;
    if (/\.node$/i.test(path))
      throw new ArchiveRefused({
        message: 'a TypeScript plugin holds no native addon (.node)',
        entry: entry.name,
        expected: 'JavaScript and files that no process loads as code of the system',
      });
    if (!isAllowed(path))
      throw new ArchiveRefused({
        message: 'an entry does not belong into a TypeScript plugin',
        entry: entry.name,
        expected: EXPECTED,
      });
    if (path === MODULE_MANIFEST || path === MODULE_YAML) texts.set(path, await textOf(file));
    else if (path === MODULE_MAIN) mainBytes = await sizeOf(file);
    else await sizeOf(file);
  }
  const required = (name: string): string => {
    const text = texts.get(name);
    if (text === undefined)
      throw invalidPlugin(`the TypeScript plugin has no ${name}`, { entry: name, expected: EXPECTED });
    return text;
  };
  if (mainBytes === 0)
    throw invalidPlugin(`the TypeScript plugin has no ${MODULE_MAIN}, or an empty one`, {
      entry: MODULE_MAIN,
      expected: EXPECTED,
    });
  return {
    manifest: required(MODULE_MANIFEST),
    yaml: { fileName: MODULE_YAML, content: required(MODULE_YAML) },
  };
}

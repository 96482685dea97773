/** Reads a TypeScript plugin: one .bplug file, a tar.gz with fixed entries (docs/plugins.md). */
import { createHash } from 'node:crypto';
import type { Clock } from '@baton/kernel';
import type { ArchiveLimits } from '../domain/archive-limits';
import { ArchiveRefused } from '../domain/entry-rules';
import { MODULE_MAIN } from '../domain/module-manifest';
import { invalidPlugin, type PluginYaml } from '../domain/plugin-package';
import { type PublicKey, SIGNATURE_ENTRY, signerOf } from '../domain/plugin-signature';
import { bytesOf, type JudgedFile, judgedFiles } from './judged-entries';
import { archiveKind } from './read-entries';
import type { Spool } from './spool';

export const MODULE_MANIFEST = 'plugin.json';
const MODULE_YAML = 'plugin.yaml';
const EXPECTED = `${MODULE_MANIFEST}, ${MODULE_YAML}, ${MODULE_MAIN}, LICENSES.txt and files/...`;

export interface ModuleContents {
  manifest: string;
  yaml: PluginYaml;
  /** The key that has signed it; null: nobody has. */
  signer: PublicKey | null;
}

const isAllowed = (path: string): boolean =>
  [MODULE_MANIFEST, MODULE_YAML, MODULE_MAIN, 'LICENSES.txt'].includes(path) || path.startsWith('files/');

const READ_ENTRIES: readonly string[] = [MODULE_MANIFEST, MODULE_YAML, SIGNATURE_ENTRY];

/** Consumes the content, so that its real size is judged. `text` only of entries that are read here. */
async function consumed({
  path,
  content,
  entry,
}: JudgedFile): Promise<{ size: number; digest: string; text: string }> {
  const hash = createHash('sha256');
  if (READ_ENTRIES.includes(path)) {
    const bytes = await bytesOf(content(), entry.name);
    return { size: bytes.length, digest: hash.update(bytes).digest('hex'), text: bytes.toString('utf8') };
  }
  let size = 0;
  for await (const chunk of content()) {
    size += chunk.length;
    hash.update(chunk);
  }
  return { size, digest: hash.digest('hex'), text: '' };
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
  const digests = new Map<string, string>();
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
    const { size, digest, text } = await consumed(file);
    digests.set(path, digest);
    if (READ_ENTRIES.includes(path)) texts.set(path, text);
    if (path === MODULE_MAIN) mainBytes = size;
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
  const signature = texts.get(SIGNATURE_ENTRY);
  return {
    signer: signature === undefined ? null : signerOf(signature, digests),
    manifest: required(MODULE_MANIFEST),
    yaml: { fileName: MODULE_YAML, content: required(MODULE_YAML) },
  };
}

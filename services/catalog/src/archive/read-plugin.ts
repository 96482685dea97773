/** Reads an uploaded plugin archive: a bare wagon, or a zip of one wagon and its yaml files (reference 8.5). */
import type { Readable } from 'node:stream';
import type { Clock } from '@baton/kernel';
import type { ArchiveLimits } from '../domain/archive-limits';
import { ArchiveRefused, createEntryJudge } from '../domain/entry-rules';
import { checkIcon, MAX_ICON_BYTES } from '../domain/icon';
import { invalidPlugin, type PluginYaml } from '../domain/plugin-package';
import type { RawEntry } from './raw-entry';
import { archiveKind, readEntries } from './read-entries';
import { type Spool, spool } from './spool';

export interface PluginUpload {
  /** The wagon; the upload itself when that is a bare wagon. */
  wagon: Spool;
  packageJson: string;
  yamls: PluginYaml[];
  /** icon.png of the zip; null when there is none. */
  icon: Buffer | null;
  /** True when the wagon came in a zip with other files; then the zip is stored as well. */
  isBundle: boolean;
}

const MAX_TEXT_BYTES = 4 * 1024 * 1024;
const MAX_YAMLS = 20;

/** Yields entries after applying the rules, without folders and skipped entries. */
async function* judged(
  archive: Spool,
  limits: ArchiveLimits,
  clock: Clock,
): AsyncGenerator<{ path: string; entry: RawEntry; content: () => AsyncGenerator<Buffer> }> {
  const judge = createEntryJudge(archive.size, limits);
  const deadline = clock.monotonic() + limits.maxMs;
  for await (const entry of readEntries(archive, await archiveKind(archive))) {
    if (clock.monotonic() > deadline)
      throw new ArchiveRefused({
        message: `reading takes longer than ${limits.maxMs} ms`,
        entry: entry.name,
      });
    const path = judge.admit(entry);
    const open = entry.content;
    if (path === null || open === null || entry.kind !== 'file') continue;
    const content = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of (await open()) as Readable) {
        judge.count((chunk as Buffer).length, entry.name);
        yield chunk as Buffer;
      }
    };
    yield { path, entry, content };
  }
}

async function bytesOf(
  content: AsyncGenerator<Buffer>,
  name: string,
  what = 'a text file',
  maxBytes = MAX_TEXT_BYTES,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > maxBytes)
      throw new ArchiveRefused({
        message: `${what} is too large`,
        entry: name,
        expected: `at most ${maxBytes} bytes`,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const textOf = async (content: AsyncGenerator<Buffer>, name: string): Promise<string> =>
  (await bytesOf(content, name)).toString('utf8');

/** Returns package.json of a wagon (below its single top folder), or null when there is none. */
async function packageJsonOf(wagon: Spool, limits: ArchiveLimits, clock: Clock): Promise<string | null> {
  for await (const { path, content, entry } of judged(wagon, limits, clock)) {
    if (/^[^/]+\/package\.json$/.test(path)) return textOf(content(), entry.name);
  }
  return null;
}

interface Found {
  wagons: Spool[];
  yamls: PluginYaml[];
  icon: Buffer | null;
}

async function collect(archive: Spool, limits: ArchiveLimits, clock: Clock, found: Found): Promise<void> {
  for await (const { path, content, entry } of judged(archive, limits, clock)) {
    if (/\.wgn$/i.test(path)) {
      if (found.wagons.length > 0)
        throw invalidPlugin('the zip holds more than one wagon', {
          entry: entry.name,
          expected: 'exactly one .wgn file',
        });
      found.wagons.push(await spool(content(), limits.maxArchiveBytes));
    } else if (/\.ya?ml$/i.test(path) && path.split('/').length <= 2) {
      if (found.yamls.length >= MAX_YAMLS)
        throw invalidPlugin('the zip holds too many yaml files', {
          entry: entry.name,
          expected: `at most ${MAX_YAMLS}`,
        });
      found.yamls.push({
        fileName: path.slice(path.lastIndexOf('/') + 1),
        content: await textOf(content(), entry.name),
      });
    } else if (/^(?:[^/]+\/)?icon\.png$/.test(path)) {
      found.icon = checkIcon(await bytesOf(content(), entry.name, 'the icon', MAX_ICON_BYTES));
    }
  }
}

/**
 * Reads an uploaded plugin. The caller disposes of the wagon when it is not the upload itself.
 * @throws AppError invalid_plugin_error; ArchiveRefused naming the entry.
 */
export async function readPluginUpload(
  archive: Spool,
  limits: ArchiveLimits,
  clock: Clock,
): Promise<PluginUpload> {
  const kind = await archiveKind(archive);
  const bare = await packageJsonOf(archive, limits, clock);
  if (bare !== null) return { wagon: archive, packageJson: bare, yamls: [], icon: null, isBundle: false };
  const expected = 'a wagon, or a zip of exactly one .wgn file and its plugin yaml files, if any';
  if (kind !== 'zip')
    throw invalidPlugin('the archive is no wagon: it has no package.json below one top folder', { expected });
  const found: Found = { wagons: [], yamls: [], icon: null };
  try {
    await collect(archive, limits, clock, found);
    const [wagon] = found.wagons;
    if (wagon === undefined) throw invalidPlugin('the zip holds no wagon', { expected });
    const packageJson = await packageJsonOf(wagon, limits, clock);
    if (packageJson === null)
      throw invalidPlugin('the wagon in the zip has no package.json below one top folder', { expected });
    return { wagon, packageJson, yamls: found.yamls, icon: found.icon, isBundle: true };
  } catch (error) {
    for (const wagon of found.wagons) await wagon.dispose();
    throw error;
  }
}

/**
 * Reads an uploaded plugin archive: a bare wagon or TypeScript plugin, or a zip of one of them and its yaml files (reference 8.5).
 */
import type { Clock } from '@baton/kernel';
import type { ArchiveLimits } from '../domain/archive-limits';
import { checkIcon, MAX_ICON_BYTES } from '../domain/icon';
import { readModuleManifest } from '../domain/module-manifest';
import {
  invalidPlugin,
  type PluginPackage,
  type PluginYaml,
  readPackageJson,
} from '../domain/plugin-package';
import type { PublicKey } from '../domain/plugin-signature';
import { bytesOf, judgedFiles, textOf } from './judged-entries';
import { archiveKind } from './read-entries';
import { MODULE_MANIFEST, readModule } from './read-module';
import { type Spool, spool } from './spool';

export interface PluginUpload {
  /** The wagon or TypeScript plugin; the upload itself when it came bare. */
  wagon: Spool;
  package: PluginPackage;
  /** The key that has signed it; null: nobody has. Wagons have no signatures. */
  signer: PublicKey | null;
  yamls: PluginYaml[];
  /** Yaml files that are checked as well, but that blueprints do not read. */
  checkedYamls: PluginYaml[];
  /** icon.png of the zip; null when there is none. */
  icon: Buffer | null;
  /** True when the wagon came in a zip with other files; then the zip is stored as well. */
  isBundle: boolean;
}

const MAX_YAMLS = 20;

type Core = Pick<PluginUpload, 'package' | 'yamls' | 'signer'>;

/**
 * Returns the package of a bare wagon, or of a bare TypeScript plugin with its yaml; null: the archive is neither. A TypeScript
 * plugin is known by plugin.json at its top; a wagon by package.json below its single top folder.
 */
async function coreOf(archive: Spool, limits: ArchiveLimits, clock: Clock): Promise<Core | null> {
  let packageJson: string | null = null;
  for await (const file of judgedFiles(archive, limits, clock)) {
    if (file.path === MODULE_MANIFEST) {
      const { manifest, yaml, signer } = await readModule(archive, limits, clock);
      return { package: readModuleManifest(manifest), yamls: [yaml], signer };
    }
    if (packageJson === null && /^[^/]+\/package\.json$/.test(file.path)) packageJson = await textOf(file);
    // Files of a TypeScript plugin may have that name too, and come before plugin.json.
    if (packageJson !== null && !file.path.startsWith('files/')) break;
  }
  return packageJson === null ? null : { package: readPackageJson(packageJson), yamls: [], signer: null };
}

interface Found {
  wagons: Spool[];
  yamls: PluginYaml[];
  icon: Buffer | null;
}

async function collect(archive: Spool, limits: ArchiveLimits, clock: Clock, found: Found): Promise<void> {
  for await (const file of judgedFiles(archive, limits, clock)) {
    const { path, content, entry } = file;
    if (/\.(wgn|bplug)$/i.test(path)) {
      if (found.wagons.length > 0)
        throw invalidPlugin('the zip holds more than one wagon or TypeScript plugin', {
          entry: entry.name,
          expected: 'exactly one .wgn or .bplug file',
        });
      found.wagons.push(await spool(content(), limits.maxArchiveBytes));
    } else if (/\.ya?ml$/i.test(path) && path.split('/').length <= 2) {
      if (found.yamls.length >= MAX_YAMLS)
        throw invalidPlugin('the zip holds too many yaml files', {
          entry: entry.name,
          expected: `at most ${MAX_YAMLS}`,
        });
      found.yamls.push({ fileName: path.slice(path.lastIndexOf('/') + 1), content: await textOf(file) });
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
  const bare = await coreOf(archive, limits, clock);
  if (bare !== null) return { ...bare, wagon: archive, checkedYamls: [], icon: null, isBundle: false };
  const expected =
    'a wagon, a TypeScript plugin (.bplug), or a zip of exactly one .wgn or .bplug file and its plugin yaml files, if any';
  if (kind !== 'zip')
    throw invalidPlugin(
      'the archive is no wagon and no TypeScript plugin: it has neither package.json below one top folder nor plugin.json at its top',
      { expected },
    );
  const found: Found = { wagons: [], yamls: [], icon: null };
  try {
    await collect(archive, limits, clock, found);
    const [wagon] = found.wagons;
    if (wagon === undefined)
      throw invalidPlugin('the zip holds no wagon and no TypeScript plugin', { expected });
    const core = await coreOf(wagon, limits, clock);
    if (core === null)
      throw invalidPlugin(
        'the plugin in the zip has neither package.json below one top folder nor plugin.json at its top',
        { expected },
      );
    const isOutside = found.yamls.length > 0;
    return {
      wagon,
      package: core.package,
      signer: core.signer,
      yamls: isOutside ? found.yamls : core.yamls,
      checkedYamls: isOutside ? core.yamls : [],
      icon: found.icon,
      isBundle: true,
    };
  } catch (error) {
    for (const wagon of found.wagons) await wagon.dispose();
    throw error;
  }
}

/** Reads plugin.json of a TypeScript plugin, a .bplug file (docs/plugins.md). Pure. */
import { isJsonObject, type Json } from '@baton/kernel';
import { invalidPlugin, type PluginPackage } from './plugin-package';

/** The number of the file format that this manager reads. */
const MODULE_FORMAT = 1;
export const MODULE_MAIN = 'index.js';

const ENTRY = 'plugin.json';
const MAX_NAMES = 10_000;
const NAME = /^[A-Za-z0-9][\w.-]{0,127}$/;
const VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]{1,64})?$/;

function refuse(message: string, expected: string): never {
  throw invalidPlugin(`plugin.json: ${message}`, { entry: ENTRY, expected });
}

const shown = (value: Json | undefined): string => (JSON.stringify(value) ?? 'nothing').slice(0, 100);

function requireNames(field: string, value: Json | undefined): void {
  const isList =
    Array.isArray(value) && value.length <= MAX_NAMES && value.every((name) => typeof name === 'string');
  if (value !== undefined && !isList)
    refuse(`${field} is ${shown(value)}`, `a list of at most ${MAX_NAMES} names`);
}

/**
 * Returns the package that plugin.json describes, in the form of a wagon's.
 * @throws AppError invalid_plugin_error naming the field
 */
export function readModuleManifest(content: string): PluginPackage {
  let json: Json;
  try {
    json = JSON.parse(content) as Json;
  } catch (cause) {
    return refuse(`it is not JSON: ${(cause as Error).message}`, 'a JSON object');
  }
  if (!isJsonObject(json)) return refuse('it is not an object', 'a JSON object');
  const { format, name, version, main, types, secrets } = json;
  if (format !== MODULE_FORMAT)
    refuse(`format ${shown(format)} is not known to this manager`, `format ${MODULE_FORMAT}`);
  if (typeof name !== 'string' || !NAME.test(name))
    return refuse(`name is ${shown(name)}`, 'letters, digits, dots, dashes and underscores, at most 128');
  if (typeof version !== 'string' || !VERSION.test(version))
    return refuse(`version is ${shown(version)}`, 'a version like 1.2.3 or 1.2.3-beta.1');
  if (main !== MODULE_MAIN) refuse(`main is ${shown(main)}`, MODULE_MAIN);
  requireNames('types', types);
  requireNames('secrets', secrets);
  return {
    package_name: name,
    package_version: version,
    package_source: `${name}==${version}`,
    archive_name: `${name}-${version}.bplug`,
    supported_platform: 'any',
    supported_py_versions: null,
    distribution: null,
    distribution_version: null,
    distribution_release: null,
    wheels: null,
    excluded_wheels: null,
  };
}

/** Reads a wagon's package.json and checks plugin yaml files (reference/rest-api.md 8.5). Pure. */
import { AppError, isJsonObject, type JsonObject } from '@baton/kernel';

export interface PluginPackage {
  package_name: string;
  package_version: string | null;
  package_source: string | null;
  archive_name: string;
  supported_platform: string | null;
  supported_py_versions: string[] | null;
  distribution: string | null;
  distribution_version: string | null;
  distribution_release: string | null;
  wheels: string[] | null;
  excluded_wheels: string[] | null;
}

export interface PluginYaml {
  fileName: string;
  content: string;
}

export interface PluginExtras {
  labels: JsonObject | null;
  blueprint_labels: JsonObject | null;
  resource_tags: JsonObject | null;
}

export function invalidPlugin(message: string, details: Record<string, unknown> = {}): AppError {
  return new AppError('invalid_plugin_error', message, { field: 'archive', ...details });
}

const text = (value: unknown): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;
const texts = (value: unknown): string[] | null =>
  Array.isArray(value) && value.every((v) => typeof v === 'string') ? value : null;

/** Reads package.json. @throws AppError invalid_plugin_error */
export function readPackageJson(content: string): PluginPackage {
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch (cause) {
    throw invalidPlugin(`package.json of the wagon is not JSON: ${(cause as Error).message}`, {
      entry: 'package.json',
    });
  }
  if (!isJsonObject(json))
    throw invalidPlugin('package.json of the wagon is not an object', {
      entry: 'package.json',
      expected: 'object',
    });
  const packageName = text(json.package_name);
  const archiveName = text(json.archive_name);
  if (!packageName)
    throw invalidPlugin('package.json of the wagon names no package', {
      entry: 'package.json',
      expected: 'package_name',
    });
  if (!archiveName || !/^[\w.+-]+\.(wgn|tar\.gz)$/.test(archiveName)) {
    throw invalidPlugin('archive_name in package.json is not the name of a wagon', {
      entry: 'package.json',
      expected: 'a name that ends with .wgn or .tar.gz',
    });
  }
  const platform = text(json.supported_platform);
  const server =
    isJsonObject(json.build_server_os_properties) && platform !== null && platform !== 'any'
      ? json.build_server_os_properties
      : {};
  return {
    package_name: packageName,
    package_version: text(json.package_version),
    package_source: text(json.package_source),
    archive_name: archiveName,
    supported_platform: platform,
    supported_py_versions: texts(json.supported_python_versions),
    distribution: text(server.distribution),
    distribution_version: text(server.distribution_version),
    distribution_release: text(server.distribution_release),
    wheels: texts(json.wheels),
    excluded_wheels: texts(json.excluded_wheels),
  };
}

/**
 * Checks the parsed documents of a plugin's yaml files against the wagon: each names exactly one package, and all agree. Labels and
 * tags come from the last file by name that has them.
 * @throws AppError invalid_plugin_error
 */
export function checkPluginYamls(
  wagon: PluginPackage,
  documents: readonly { fileName: string; document: unknown }[],
): PluginExtras {
  const extras: PluginExtras = { labels: null, blueprint_labels: null, resource_tags: null };
  for (const { fileName, document } of [...documents].sort((a, b) => (a.fileName < b.fileName ? -1 : 1))) {
    if (!isJsonObject(document))
      throw invalidPlugin(`${fileName} is not a mapping`, { entry: fileName, expected: 'mapping' });
    checkPackage(wagon, fileName, document.plugins);
    for (const key of ['labels', 'blueprint_labels', 'resource_tags'] as const) {
      const found = document[key];
      if (found === undefined || found === null) continue;
      if (!isJsonObject(found))
        throw invalidPlugin(`${key} of ${fileName} is not a mapping`, {
          entry: fileName,
          expected: 'mapping',
        });
      extras[key] = key === 'resource_tags' ? found : labelValues(fileName, key, found);
    }
  }
  return extras;
}

function checkPackage(wagon: PluginPackage, fileName: string, plugins: unknown): void {
  if (!isJsonObject(plugins) || Object.keys(plugins).length === 0) {
    throw invalidPlugin(`${fileName} has no plugins section`, {
      entry: fileName,
      expected: 'a plugins section with one plugin',
    });
  }
  for (const [name, plugin] of Object.entries(plugins)) {
    const found = isJsonObject(plugin)
      ? { package: text(plugin.package_name), version: text(plugin.package_version) }
      : { package: null, version: null };
    if (found.package === wagon.package_name && found.version === wagon.package_version) continue;
    throw invalidPlugin(
      `plugin ${name} of ${fileName} is ${found.package} ${found.version}, the archive holds ${wagon.package_name} ${wagon.package_version}`,
      {
        entry: fileName,
        expected: `package_name ${wagon.package_name}, package_version ${wagon.package_version}`,
      },
    );
  }
}

/** Returns labels by key as lists of values, the form of REST. @throws AppError invalid_plugin_error */
function labelValues(fileName: string, section: string, labels: JsonObject): JsonObject {
  const values: JsonObject = {};
  for (const [key, label] of Object.entries(labels)) {
    const isWell =
      isJsonObject(label) && Array.isArray(label.values) && label.values.every((v) => typeof v === 'string');
    if (!isWell)
      throw invalidPlugin(`label ${key} in ${section} of ${fileName} has no list of values`, {
        entry: fileName,
        expected: '{values: [text, ...]}',
      });
    values[key] = label.values!;
  }
  return values;
}

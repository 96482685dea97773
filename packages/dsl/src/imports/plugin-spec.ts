import { comparePythonVersions, matchesSpecifiers } from './python-version';

/** The parsed form of `plugin:NAME?version=...&distribution=...`. */
export interface PluginSpec {
  name: string;
  /** PEP 440 specifiers as written, such as `>=1.2,<2`; null when any version is accepted. */
  version: string | null;
  distribution: string | null;
}

/** Parses the text of a plugin import (with or without `plugin:`). A returned string is the error. */
export function parsePluginSpec(target: string): PluginSpec | string {
  const text = target.startsWith('plugin:') ? target.slice('plugin:'.length) : target;
  const question = text.indexOf('?');
  const name = (question < 0 ? text : text.slice(0, question)).trim();
  if (name === '') return 'the name of the plugin is missing';
  const spec: PluginSpec = { name, version: null, distribution: null };
  if (question < 0) return spec;
  for (const pair of text.slice(question + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const key = decode(equals < 0 ? pair : pair.slice(0, equals)).trim();
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1)).trim();
    if (key === 'version') {
      if (value.split(',').some((item) => item.trim() === '')) return `"${value}" is not a version specifier`;
      spec.version = value;
    } else if (key === 'distribution') spec.distribution = value;
    else return `"${key}" cannot be asked of a plugin; version and distribution can`;
  }
  return spec;
}

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    // a "%" that begins no escape stands for itself, as in the original
    return spaced;
  }
}

export interface PluginCandidate {
  name: string;
  version: string;
  distribution?: string | null;
}

/** Returns the best installed plugin: the highest version of that name within the specifiers; null when none matches. */
export function selectPlugin<T extends PluginCandidate>(
  spec: PluginSpec,
  installed: readonly T[],
  constraint: string | null = null,
): T | null {
  let best: T | null = null;
  for (const plugin of installed) {
    if (plugin.name !== spec.name) continue;
    if (spec.distribution !== null && plugin.distribution !== spec.distribution) continue;
    if (spec.version !== null && !matchesSpecifiers(plugin.version, spec.version)) continue;
    if (constraint !== null && !matchesSpecifiers(plugin.version, constraint)) continue;
    if (best === null || comparePythonVersions(plugin.version, best.version) > 0) best = plugin;
  }
  return best;
}

/**
 * Returns which of a plugin's YAML files describes it to a blueprint of `definitionsVersion` such as `1_4` (reference
 * 2.2, "YAML file choice inside a plugin"); null when none or several match.
 */
export function choosePluginYaml(
  fileNames: readonly string[],
  definitionsVersion: string | null,
): string | null {
  const names = [...fileNames].sort();
  if (names.length <= 1) return names[0] ?? null;
  if (definitionsVersion === null) return names[names.length - 1]!;
  const exact = names.filter((n) => n.includes(`${definitionsVersion}.yaml`));
  if (exact.length > 0) return exact.length === 1 ? exact[0]! : null;
  return names.find((n) => !/_\d_\d+\.yaml$/.test(n)) ?? null;
}

/** Maximum number of installed versions in the message about a missing one. */
const MAX_SHOWN = 10;

/** Message with the requested plugin and the installed versions. */
export function pluginMisfit(asked: PluginSpec, installed: readonly PluginCandidate[]): string {
  const wanted = [
    ...(asked.version === null ? [] : [`version ${asked.version}`]),
    ...(asked.distribution === null ? [] : [`distribution ${asked.distribution}`]),
  ];
  const there = installed
    .slice(0, MAX_SHOWN)
    .map(({ version, distribution }) => (distribution ? `${version} (${distribution})` : version));
  const more = installed.length > MAX_SHOWN ? ` and ${installed.length - MAX_SHOWN} more` : '';
  return `${wanted.join(' and ')} is asked for, installed is ${there.join(', ')}${more}`;
}

/** Converts stored labels of a plugin: lists of values, or objects with such a list. */
export const pluginLabels = (stored: unknown): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries((stored ?? {}) as Record<string, { values?: string[] } | string[]>).map(([key, value]) => [
      key,
      Array.isArray(value) ? value : (value.values ?? []),
    ]),
  );

import { comparePythonVersions, matchesSpecifiers } from './python-version';

/** What `plugin:NAME?version=...&distribution=...` asks for. */
export interface PluginSpec {
  name: string;
  /** PEP 440 specifiers as written, such as `>=1.2,<2`; null when any version will do. */
  version: string | null;
  distribution: string | null;
}

/** Parses the text of a plugin import (with or without `plugin:`); a string is what is wrong with it. */
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
    // a stray "%" means itself, as in the original
    return spaced;
  }
}

export interface PluginCandidate {
  name: string;
  version: string;
  distribution?: string | null;
}

/** The installed plugin that fits best: the highest version of that name within the specifiers; null when none fits. */
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
 * Which of a plugin's YAML files describes it to a blueprint of `definitionsVersion` such as `1_4`
 * (reference 2.2, "YAML file choice inside a plugin"); null when none or several would.
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

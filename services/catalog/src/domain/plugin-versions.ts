/** Chooses the new versions of a blueprint's plugins for a plugins update. Pure. */
import type { PluginSelection } from '@baton/contracts';
import { comparePythonVersions } from '@baton/dsl';
import { badParameter, nearestName } from '@baton/kernel';
import type { PlanUse } from './plan-uses';

type Versions = ReadonlyMap<string, readonly string[]>;

/** Returns the versions of plugins in use, by package name. */
export function pluginsInUse(uses: readonly PlanUse[]): Map<string, string> {
  return new Map(uses.filter((use) => use.kind === 'plugin').map((use) => [use.name, use.version]));
}

/**
 * Returns the version of each package in use after the update; packages that are not selected keep theirs. `installed`: versions
 * that the importer may use, by package name.
 * @throws AppError bad_parameters_error for a version that is not installed and for names that the blueprint does not use.
 */
export function chooseVersions(
  current: ReadonlyMap<string, string>,
  installed: Versions,
  selection: PluginSelection,
): Map<string, string> {
  refuseUnused(current, selection);
  return new Map(
    [...current].map(([name, version]) => [
      name,
      isNamed(name, selection) ? targetOf(name, version, installed.get(name) ?? [], selection) : version,
    ]),
  );
}

function refuseUnused(current: ReadonlyMap<string, string>, selection: PluginSelection): void {
  const named = {
    plugin_names: selection.plugin_names ?? [],
    to_latest: selection.to_latest ?? [],
    to_minor: selection.to_minor ?? [],
    mapping: Object.keys(selection.mapping ?? {}),
  };
  for (const [field, names] of Object.entries(named)) {
    const unused = names.find((name) => !current.has(name));
    if (unused === undefined) continue;
    const expected = [...current.keys()].sort();
    throw badParameter(field, `The blueprint uses no plugin \`${unused}\``, {
      expected,
      nearest: nearestName(unused, expected),
    });
  }
}

function isNamed(name: string, { plugin_names: names, mapping }: PluginSelection): boolean {
  return !names?.length || names.includes(name) || Object.hasOwn(mapping ?? {}, name);
}

function targetOf(
  name: string,
  current: string,
  installed: readonly string[],
  selection: PluginSelection,
): string {
  const { mapping, to_latest: latest, to_minor: minor, all_to_minor: isAllMinor } = selection;
  const wanted = Object.hasOwn(mapping ?? {}, name) ? mapping![name]! : null;
  if (wanted !== null) {
    if (installed.includes(wanted)) return wanted;
    throw badParameter(`mapping.${name}`, `Plugin \`${name}\` is not there in version ${wanted}`, {
      expected: [...installed],
      nearest: nearestName(wanted, [...installed]),
    });
  }
  const sameMajor = installed.filter((version) => majorOf(version) === majorOf(current));
  if (latest?.includes(name)) return newest(current, installed);
  if (minor?.includes(name) || isAllMinor) return newest(current, sameMajor);
  const isNothingChosen = !mapping && !latest?.length && !minor?.length && !isAllMinor;
  return (selection.all_to_latest ?? isNothingChosen) ? newest(current, installed) : current;
}

const majorOf = (version: string): string => /^v?(\d+)/.exec(version)?.[1] ?? version;

const newest = (current: string, versions: readonly string[]): string =>
  versions.reduce((best, one) => (comparePythonVersions(one, best) > 0 ? one : best), current);

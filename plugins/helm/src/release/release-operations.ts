import { type Difference, FatalError, type Present } from '@baton/plugin-sdk';
import { isDict } from '../chart/set-values';
import { readFlags, valueOfFlag } from '../program/flags';
import { installRelease, uninstallRelease, upgradeRelease } from './change-release';
import type { ReleaseConfig } from './release-config';
import { driftOfObjects, missingOf, presentObjects, shownStates } from './release-objects';
import { type OpenRelease, type ReleaseScope, withRelease } from './release-scope';
import { type ReleaseState, readRelease, shownRelease } from './release-state';

const isHealing = ({ ctx }: ReleaseScope): boolean => ctx.operation.name.split('.').at(-1) === 'heal';

/** Installs, or finds the release that exists; upgrades it in the workflow update, as the original does. */
export async function start(scope: ReleaseScope): Promise<void> {
  await withRelease(scope, async (open) => {
    const { helm, config } = open;
    if (scope.properties.use_external_resource) {
      const found = await readRelease(helm, config.name, config.namespace);
      if (found === null)
        throw new FatalError(
          `there is no release ${config.name} in ${config.namespace} (use_external_resource)`,
        );
      scope.runtime.status_output = shownRelease(found);
      return;
    }
    const present =
      scope.runtime.__helm_began === true ? await readRelease(helm, config.name, config.namespace) : null;
    const isUpdate = scope.ctx.workflowId === 'update' && present?.info.status === 'deployed';
    const state = isUpdate
      ? await upgradeRelease(scope, open, config)
      : await installRelease(scope, open, config);
    scope.runtime.install_output = shownRelease(state);
    scope.log.info(`The release ${config.name} is deployed in ${config.namespace}`);
  });
}

export async function poststart(scope: ReleaseScope): Promise<void> {
  await withRelease(scope, async (open) => {
    const state = await requireDeployed(open);
    scope.runtime.status_output = shownRelease(state);
    scope.runtime.kubernetes_status = shownStates(await objectsOf(open, state));
  });
}

async function requireDeployed({ helm, config }: OpenRelease): Promise<ReleaseState> {
  const state = await readRelease(helm, config.name, config.namespace);
  if (state === null) throw new FatalError(`there is no release ${config.name} in ${config.namespace}`);
  if (state.info.status === 'deployed') return state;
  throw new FatalError(`the release ${config.name} is ${state.info.status}: ${state.info.description ?? ''}`);
}

const objectsOf = async ({ api, config }: OpenRelease, { manifest = '' }: ReleaseState) =>
  await presentObjects(api, manifest, config.namespace);

/** Null: there is no release, or, for heal, none that works. @throws FatalError for a release that is broken */
export async function read(scope: ReleaseScope): Promise<Present | null> {
  return await withRelease(scope, async (open) => {
    const { helm, config } = open;
    const found = await readRelease(helm, config.name, config.namespace);
    if (found === null || (isHealing(scope) && found.info.status !== 'deployed')) return null;
    const state = await requireDeployed(open);
    const objects = await objectsOf(open, state);
    const missing = missingOf(objects);
    // Drift shows missing objects, and heal makes them again by an upgrade.
    if (missing.length > 0 && scope.ctx.operation.name.endsWith('check_status'))
      throw new FatalError(`objects of the release ${config.name} are missing: ${missing.join(', ')}`);
    return { status_output: shownRelease(state), kubernetes_status: shownStates(objects) };
  });
}

/** Objects that differ from the manifest, and declared values and versions that differ from the installed ones. */
export async function drift(scope: ReleaseScope): Promise<Difference[]> {
  if (scope.properties.use_external_resource) return [];
  return await withRelease(scope, async (open) => {
    const { helm, config, api } = open;
    const state = await requireDeployed(open);
    const at = [config.name, `--namespace=${config.namespace}`];
    const values = await helm.json(['get', 'values', ...at]);
    const metadata = await helm.json(['get', 'metadata', ...at]);
    return [
      ...driftOfValues(config.values, values ?? {}, 'values'),
      ...driftOfVersion(config, metadata),
      ...(await driftOfObjects(api, await objectsOf(open, state))),
    ];
  });
}

/** Only names: values may be secrets. */
function driftOfValues(declared: unknown, present: unknown, path: string): Difference[] {
  if (isDict(declared) && isDict(present))
    return [...new Set([...Object.keys(declared), ...Object.keys(present)])].flatMap((name) =>
      driftOfValues(declared[name], present[name], `${path}.${name}`),
    );
  if (JSON.stringify(declared) === JSON.stringify(present)) return [];
  const shown = (value: unknown, text: string) => (value === undefined ? null : text);
  return [{ path, stored: shown(declared, 'the declared value'), present: shown(present, 'another value') }];
}

function driftOfVersion({ flags }: ReleaseConfig, metadata: unknown): Difference[] {
  const wanted = valueOfFlag(flags, 'version');
  const present = isDict(metadata) ? metadata.version : undefined;
  // A range such as `^1.2` is no version.
  if (wanted === undefined || typeof present !== 'string' || !/^v?\d+\.\d+\.\d+/.test(wanted)) return [];
  return wanted.replace(/^v/, '') === present.replace(/^v/, '')
    ? []
    : [{ path: 'chart.version', stored: wanted, present }];
}

export async function update(scope: ReleaseScope): Promise<void> {
  if (scope.properties.use_external_resource) return;
  await withRelease(scope, async (open) => {
    scope.runtime.install_output = shownRelease(await upgradeRelease(scope, open, open.config));
  });
}

export async function uninstall(scope: ReleaseScope): Promise<void> {
  const { runtime, properties, log } = scope;
  if (properties.use_external_resource) log.info('The release is external: it stays');
  else if (runtime.__helm_began === true || isHealing(scope))
    await withRelease(scope, async (open) => await uninstallRelease(open, open.config));
  if (!isHealing(scope))
    for (const name of Object.keys(runtime)) delete (runtime as Record<string, unknown>)[name];
}

/** The inputs are kept, so that later checks compare with them; values are not, since they may be secrets. */
export async function upgrade(scope: ReleaseScope): Promise<unknown> {
  const { inputs, runtime } = scope;
  return await withRelease(scope, async (open) => {
    const shown = shownRelease(await upgradeRelease(scope, open, open.config));
    runtime.install_output = shown;
    const flags = readFlags('flags', inputs.flags);
    runtime.__helm_upgrade = {
      ...runtime.__helm_upgrade,
      ...(inputs.chart ? { chart: String(inputs.chart) } : {}),
      ...(inputs.values_file ? { values_file: String(inputs.values_file) } : {}),
      ...(flags.length > 0 ? { flags } : {}),
    };
    return shown;
  });
}

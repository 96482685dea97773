// Install, upgrade and uninstall. Helm keeps the state of a release in the cluster: a worker that dies leaves it `pending`.
import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';
import { fetchChart } from '../chart/fetch-chart';
import { argumentsOf, type Flag, onlyFlags, withoutFlags } from '../program/flags';
import type { Helm } from '../program/helm';
import type { OpenHelm } from '../program/open-helm';
import type { ReleaseConfig } from './release-config';
import type { ReleaseScope } from './release-scope';
import { isPending, type ReleaseState, readRelease } from './release-state';

/** Flags of install that upgrade does not know. */
const ONLY_INSTALL = ['replace', 'generate-name', 'name-template', 'create-namespace'];
/** What uninstall takes of the flags of a release; it refuses the others. */
const UNINSTALL = ['cascade', 'debug', 'description', 'keep-history', 'no-hooks', 'timeout', 'wait'];
const VALUES = 'values.json';

const isSet = (flags: readonly Flag[], name: string): boolean => flags.some((flag) => flag.name === name);

/**
 * Installs the release; what an earlier try has left in the middle is removed first.
 * @throws FatalError when somebody else has a release of that name
 */
export async function installRelease(
  scope: ReleaseScope,
  open: OpenHelm,
  config: ReleaseConfig,
): Promise<unknown> {
  const { helm, folder } = open;
  const present = await readRelease(helm, config.name, config.namespace);
  if (present !== null && present.info.status !== 'uninstalled') {
    if (scope.runtime.__helm_began !== true)
      throw new FatalError(
        `the release ${config.name} exists already in ${config.namespace} (${present.info.status}): use_external_resource would use it`,
      );
    if (present.info.status === 'deployed') return present;
    scope.log.info(`An earlier try has left the release ${present.info.status}: it is removed first`);
    await uninstallRelease(open, { ...config, flags: [] });
  }
  const chart = await fetchChart(scope, open, config.chart);
  scope.runtime.__helm_began = true;
  // A process that dies behind this line has told that the release is its own.
  await (await scope.ctx.instance()).update();
  const values = await folder.write(VALUES, JSON.stringify(config.values));
  const own = isSet(config.flags, 'wait') ? [] : ['--wait'];
  return await helm.change([
    'install',
    config.name,
    chart,
    `--namespace=${config.namespace}`,
    `--values=${values}`,
    ...own,
    ...argumentsOf(config.flags),
  ]);
}

/** Upgrades the release in one piece: a failure goes back to the revision before. */
export async function upgradeRelease(
  scope: ReleaseScope,
  open: OpenHelm,
  config: ReleaseConfig,
): Promise<unknown> {
  const { helm, folder } = open;
  const present = await readRelease(helm, config.name, config.namespace);
  if (present === null) throw new FatalError(`there is no release ${config.name} in ${config.namespace}`);
  if (isPending(present)) await goBack(scope, helm, present, config);
  const chart = await fetchChart(scope, open, config.chart);
  const values = await folder.write(VALUES, JSON.stringify(config.values));
  return await helm.change([
    'upgrade',
    config.name,
    chart,
    `--namespace=${config.namespace}`,
    `--values=${values}`,
    '--reset-values',
    ...(isSet(config.flags, 'atomic') ? [] : ['--atomic']),
    ...argumentsOf(withoutFlags(config.flags, ONLY_INSTALL)),
  ]);
}

const HISTORY = z.array(z.looseObject({ revision: z.number(), status: z.string() }));

/** An upgrade whose worker died holds the release: only a rollback frees it. */
async function goBack(
  scope: ReleaseScope,
  helm: Helm,
  present: ReleaseState,
  config: ReleaseConfig,
): Promise<void> {
  if (!scope.ctx.isResumed && scope.runtime.__helm_began !== true)
    throw new FatalError(
      `the release ${config.name} is ${present.info.status}: somebody else is working on it`,
    );
  const at = `--namespace=${config.namespace}`;
  const history = HISTORY.parse(await helm.json(['history', config.name, at]));
  const last = history.filter(({ status }) => status === 'deployed' || status === 'superseded').at(-1);
  if (last === undefined)
    throw new FatalError(`the release ${config.name} has no revision to go back to: run heal`);
  scope.log.info(
    `An earlier try has left the release ${present.info.status}: back to revision ${last.revision}`,
  );
  await helm.run(['rollback', config.name, String(last.revision), at, '--wait']);
}

/** A release that is gone is no error. */
export async function uninstallRelease({ helm }: OpenHelm, config: ReleaseConfig): Promise<void> {
  if ((await readRelease(helm, config.name, config.namespace)) === null) return;
  const flags = onlyFlags(config.flags, UNINSTALL);
  await helm.run([
    'uninstall',
    config.name,
    `--namespace=${config.namespace}`,
    ...(isSet(flags, 'wait') ? [] : ['--wait']),
    ...argumentsOf(flags),
  ]);
}

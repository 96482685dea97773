import { join } from 'node:path';
import { type Difference, FatalError } from '@baton/plugin-sdk';
import type { Place } from '../settings/place';
import { sensitiveValues } from '../settings/sensitive-values';
import type { Settings } from '../settings/settings';
import type { TaskScope } from '../settings/task-scope';
import { type Applied, appliedOf } from './applied';
import type { TaskResult } from './events';
import { pingHosts } from './facts';
import { openSettings } from './open-settings';
import { failureText } from './outcome';
import { runPlaybook } from './run-playbook';
import { tagsOf } from './tags';
import { type Workspace, withWorkspace } from './workspace';

/**
 * What differs from the playbook: settings or files that were not applied yet, and tasks that `--check --diff` would change.
 * Tasks that do not support the check mode are skipped by Ansible.
 * @throws FatalError when the check itself fails
 */
export async function drift(scope: TaskScope): Promise<Difference[]> {
  const { place, settings } = await openSettings(scope);
  return await withWorkspace(scope, place, settings, (workspace) =>
    driftIn(scope, place, settings, workspace),
  );
}

async function driftIn(
  scope: TaskScope,
  { instance }: Place,
  settings: Settings,
  workspace: Workspace,
): Promise<Difference[]> {
  const wanted = await appliedOf(settings, join(workspace.folder, 'playbook'));
  const found = settingsThatDiffer(wanted, instance.runtimeProperties.ansible_applied);
  const tags = [...new Set(await tagsOf(scope, settings, workspace))];
  const run = await runPlaybook(scope, settings, workspace, { tags, isCheck: true });
  if (run.exitCode !== 0) throw new FatalError(`the check failed: ${failureText(run)}`);
  const hidden = hiddenTexts(settings);
  return [...found, ...run.changed.map((result) => differenceOf(result, hidden))];
}

function settingsThatDiffer(wanted: Applied, applied: unknown): Difference[] {
  const known = (typeof applied === 'object' && applied !== null ? applied : {}) as Applied;
  return Object.keys(wanted)
    .filter((name) => wanted[name] !== known[name])
    .map((name) => ({ path: name, stored: wanted[name]!, present: known[name] ?? null }));
}

/** Texts of sensitive values. A drift is data that every user of the tenant reads: files may hold such values. */
const hiddenTexts = ({ sources, run_data, options_config, sensitive_keys: keys }: Settings): string[] =>
  sensitiveValues({ sources, run_data, options_config }, keys)
    .flatMap((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)))
    .filter((text) => text !== '')
    .sort((a, b) => b.length - a.length);

/** `stored`: as the playbook wants it. Without a difference in text: only that the task would change something. */
function differenceOf(
  { h: host, t: task, d: diffs = [] }: TaskResult,
  hidden: readonly string[],
): Difference {
  const path = `${host}: ${task}`;
  if (diffs.length === 0) return { path, stored: 'ok', present: 'changed' };
  const side = (name: 'before' | 'after'): string =>
    hidden.reduce(
      (text, value) => text.replaceAll(value, '********'),
      diffs.map((diff) => diff[name] ?? '').join('\n'),
    );
  return { path, stored: side('after'), present: side('before') };
}

/**
 * Fails when a host cannot be reached; with `heal_drift` also when the playbook would change something. Null stands for fine:
 * results of operations are JSON.
 */
export async function checkStatus(scope: TaskScope): Promise<null> {
  const { place, settings } = await openSettings(scope);
  return await withWorkspace(scope, place, settings, async (workspace) => {
    if (settings.heal_drift) requireNone(await driftIn(scope, place, settings, workspace));
    else await requireReached(scope, workspace);
    return null;
  });
}

async function requireReached(scope: TaskScope, workspace: Workspace): Promise<void> {
  const run = await pingHosts(scope, workspace);
  if (run.exitCode !== 0) throw new FatalError(failureText(run));
}

function requireNone(found: readonly Difference[]): void {
  if (found.length === 0) return;
  const paths = found.slice(0, MOST_SHOWN).map(({ path }) => path);
  throw new FatalError(`the playbook would change ${found.length} things: ${paths.join(', ')}`);
}

const MOST_SHOWN = 10;

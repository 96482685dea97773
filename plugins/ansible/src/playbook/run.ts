import { join } from 'node:path';
import type { InstanceContext } from '@baton/plugin-sdk';
import { keep } from '../settings/place';
import type { Settings } from '../settings/settings';
import type { TaskScope } from '../settings/task-scope';
import { appliedOf } from './applied';
import type { Counts } from './events';
import { collectFacts } from './facts';
import { openSettings } from './open-settings';
import { requireSuccess } from './outcome';
import { type PlaybookRun, runPlaybook } from './run-playbook';
import { forEachTag } from './tags';
import { type Workspace, withWorkspace } from './workspace';

/**
 * Runs a playbook (ansible.cloudify_ansible.tasks.run). Runtime property `result`: the numbers of each host, also after a failure.
 * @returns the same numbers
 * @throws OperationRetry when hosts failed and there are attempts left, FatalError for other failures
 */
export async function run(scope: TaskScope): Promise<Record<string, Counts>> {
  const { place, settings } = await openSettings(scope);
  if (!settings.log_stdout) scope.log.warning('log_stdout is false: only failures of tasks are shown');
  return await withWorkspace(scope, place, settings, async (workspace) => {
    const hosts: Record<string, Counts> = {};
    await forEachTag(scope, place.instance, settings, workspace, async (tags) => {
      const done = await runPlaybook(scope, settings, workspace, { tags, isCheck: false });
      add(hosts, done);
      keep(place.instance, { result: hosts });
      requireSuccess(done, attemptOf(scope, settings));
    });
    keep(place.instance, { ansible_applied: await appliedOf(settings, join(workspace.folder, 'playbook')) });
    // In a relationship this is the last operation, so facts are those of the hosts as the playbook has made them.
    const isEstablish = scope.ctx.operation.name.endsWith('establish');
    if (isEstablish && settings.store_facts) await keepFacts(scope, place.instance, settings, workspace);
    return hosts;
  });
}

/** Stores facts of all hosts (ansible.cloudify_ansible.tasks.store_facts). */
export async function storeFacts(scope: TaskScope): Promise<void> {
  const { place, settings } = await openSettings(scope);
  if (!settings.store_facts) return;
  await withWorkspace(scope, place, settings, async (workspace) => {
    await keepFacts(scope, place.instance, settings, workspace);
  });
}

async function keepFacts(
  scope: TaskScope,
  instance: InstanceContext,
  settings: Settings,
  workspace: Workspace,
): Promise<void> {
  const { facts, run: done } = await collectFacts(scope, workspace);
  requireSuccess(done, attemptOf(scope, settings));
  keep(instance, { facts });
}

const attemptOf = ({ ctx }: TaskScope, { number_of_attempts: attempts }: Settings) => ({
  retryNumber: ctx.operation.retryNumber,
  attempts,
});

/** Sums up the runs of several tags. */
function add(hosts: Record<string, Counts>, { hosts: more }: PlaybookRun): void {
  for (const [host, counts] of Object.entries(more)) {
    const known = hosts[host];
    hosts[host] = known === undefined ? { ...counts } : summed(known, counts);
  }
}

const summed = (a: Counts, b: Counts): Counts =>
  Object.fromEntries(
    Object.entries(a).map(([name, count]) => [name, count + b[name as keyof Counts]]),
  ) as Counts;

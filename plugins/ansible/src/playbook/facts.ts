import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskScope } from '../settings/task-scope';

import { type PlaybookRun, tellRun } from './run-playbook';
import type { Workspace } from './workspace';

/** Most bytes of the facts of one host, and of all hosts: they become a runtime property, and a host may say anything. */
const HOST_BYTES = 200_000;
const ALL_BYTES = 2_000_000;

const GATHER = [{ hosts: 'all', gather_facts: false, tasks: [{ name: 'Gather facts', setup: {} }] }];
const PING = [{ hosts: 'all', gather_facts: false, tasks: [{ name: 'Reach the host', ping: {} }] }];

/**
 * Gathers facts of all hosts of the inventory. Of one host the form is that of the original: { ansible_facts, changed }; of several
 * it is that by host.
 */
export async function collectFacts(
  scope: TaskScope,
  workspace: Workspace,
): Promise<{ facts: unknown; run: PlaybookRun }> {
  const folder = join(workspace.folder, 'facts');
  await mkdir(folder, { mode: 0o700 });
  const env = { ...workspace.env, BATON_EVENTS_FACTS: folder };
  const run = await runOwn(scope, { ...workspace, env }, 'facts', GATHER);
  const byHost: Record<string, unknown> = {};
  let left = ALL_BYTES;
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const { size } = await stat(file);
    left -= size;
    if (size > HOST_BYTES || left < 0) {
      scope.log.warning(`The facts of a host are left out: they have ${size} bytes`);
      continue;
    }
    const { host, facts } = JSON.parse(await readFile(file, 'utf8')) as { host: string; facts: unknown };
    byHost[host] = { ansible_facts: facts, changed: false };
  }
  const all = Object.values(byHost);
  return { facts: all.length === 1 ? all[0] : byHost, run };
}

/** Reaches all hosts, and changes nothing. */
export const pingHosts = (scope: TaskScope, workspace: Workspace): Promise<PlaybookRun> =>
  runOwn(scope, workspace, 'reach', PING);

/** Runs a playbook of our own on the hosts of the inventory. */
async function runOwn(
  scope: TaskScope,
  workspace: Workspace,
  name: string,
  plays: unknown,
): Promise<PlaybookRun> {
  const file = join(workspace.folder, `${name}.json`);
  await writeFile(file, JSON.stringify(plays), { mode: 0o600 });
  const args = [`--inventory=${workspace.inventory}`, `--extra-vars=@${workspace.variables}`, '--', file];
  return await tellRun(scope, workspace, args, false);
}

import { type Difference, type NodeScope, nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { argumentsOf, readFlags, valueOfFlag } from '../program/flags';
import { withHelm } from '../program/open-helm';
import { repositoriesFile } from '../repo/deployment-repos';
import { flagsOf, helmConfig, REPO_CONFIG, sleepTime } from './schema';

const PROPERTIES = z.object({
  helm_config: helmConfig,
  use_external_resource: z
    .boolean()
    .default(false)
    .describe('The repository is not checked when the node starts'),
  resource_config: REPO_CONFIG,
  max_sleep_time: sleepTime(300),
});
const RUNTIME = z.object({ repo_list: z.array(z.object({ name: z.string(), url: z.string() })) });
type Scope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;

/** Reads the index of the repository. Its place is in the node: operations of releases read it there. */
async function readIndex(scope: Scope, given: unknown = []): Promise<void> {
  const { resource_config: config } = scope.properties;
  const password = valueOfFlag(readFlags('resource_config.flags', config.flags), 'password');
  if (password !== undefined) scope.hide(password);
  const flags = readFlags('inputs.flags', given);
  await withHelm(scope, { needsSources: false }, async ({ helm, folder }) => {
    await folder.write('repositories.yaml', repositoriesFile([config]));
    await helm.run(['repo', 'update', config.name, '--fail-on-repo-update-fail', ...argumentsOf(flags)]);
  });
}

const asListed = ({ properties: { resource_config: config } }: Scope) => [
  { name: config.name, url: config.repo_url },
];

/** A repository of charts, for the releases of the deployment. */
export const repo = nodeType({
  description: 'A repository of charts',
  properties: PROPERTIES,
  runtime: RUNTIME,
  inputs: { start: z.object({ flags: flagsOf() }), delete: z.object({ flags: flagsOf() }) },
  mappings: {
    start: 'helm.cloudify_helm.tasks.add_repo',
    delete: 'helm.cloudify_helm.tasks.remove_repo',
    check_status: 'helm.cloudify_helm.tasks.repo_list',
    check_drift: 'helm.cloudify_helm.tasks.repo_check_drift',
    update_repo: 'helm.cloudify_helm.tasks.update_repo',
  },
  async start(scope) {
    if (!scope.properties.use_external_resource) await readIndex(scope);
    scope.runtime.repo_list = asListed(scope);
  },
  delete({ runtime }) {
    delete runtime.repo_list;
  },
  async read(scope) {
    await readIndex(scope);
    return scope.runtime.repo_list === undefined ? null : { repo_list: scope.runtime.repo_list };
  },
  drift(scope): Difference[] {
    const [[stored], [present]] = [asListed(scope), scope.runtime.repo_list ?? []];
    return stored!.name === present?.name && stored!.url === present.url
      ? []
      : [{ path: 'repo', stored: { ...stored! }, present: present === undefined ? null : { ...present } }];
  },
  async update(scope) {
    await readIndex(scope);
    scope.runtime.repo_list = asListed(scope);
  },
  operations: {
    update_repo: {
      interface: 'helm',
      inputs: z.object({ flags: flagsOf() }),
      run: async (scope) => await readIndex(scope as unknown as Scope, scope.inputs.flags),
    },
  },
  resumable: ['start', 'update', 'delete', 'update_repo'],
});

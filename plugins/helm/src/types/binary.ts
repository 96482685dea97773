import { type NodeScope, nodeType, type Present } from '@baton/plugin-sdk';
import * as z from 'zod';
import { searchPath } from '../program/config';
import { download, onPath } from '../program/find-program';
import { withHelm } from '../program/open-helm';
import { helmConfig, PROGRAM_RUNTIME, sleepTime } from './schema';

const DEFAULT_SOURCE = 'https://get.helm.sh/helm-v3.6.0-linux-amd64.tar.gz';

const PROPERTIES = z.object({
  helm_config: helmConfig,
  use_existing_resource: z.boolean().default(false).describe('Use helm of the machine of the worker'),
  installation_source: z
    .string()
    .default(DEFAULT_SOURCE)
    .describe('Address of helm. The default is only used where the machine has no helm'),
  max_sleep_time: sleepTime(300),
});
const RUNTIME = z.object({ ...PROGRAM_RUNTIME, version: z.string() });
type Scope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;

/** Chooses the program: of the machine, or a download whose SHA-256 is kept, so that later downloads are the same file. */
async function install(scope: Scope): Promise<void> {
  const { properties, runtime, log } = scope;
  const { helm_config: config, installation_source: source, use_existing_resource: isExisting } = properties;
  if (config.executable_path) runtime.executable_path = config.executable_path;
  else if (!isExisting && (source !== DEFAULT_SOURCE || (await onPath(searchPath())) === null)) {
    runtime.installation_source = source;
    runtime.installation_digest = (await download(scope, source, runtime.installation_digest)).digest;
  } else log.info('helm of the machine of the worker is used');
}

const version = async (scope: Scope): Promise<Present> =>
  await withHelm(scope, { needsSources: false }, async ({ helm }) => {
    const { stdout } = await helm.run(['version', '--template={{.Version}}'], { exitCodes: { 1: 'fatal' } });
    return { version: stdout.trim() };
  });

/** The program helm. */
export const binary = nodeType({
  description: 'The program helm',
  derivedFrom: 'cloudify.nodes.SoftwareComponent',
  properties: PROPERTIES,
  runtime: RUNTIME,
  mappings: {
    create: 'helm.cloudify_helm.tasks.install_binary',
    poststart: 'helm.cloudify_helm.tasks.check_status_binary',
    delete: 'helm.cloudify_helm.tasks.uninstall_binary',
  },
  create: install,
  async poststart(scope) {
    Object.assign(scope.runtime, await version(scope));
    scope.log.info(`helm ${scope.runtime.version}`);
  },
  delete({ runtime }) {
    for (const name of Object.keys(runtime)) delete (runtime as Record<string, unknown>)[name];
  },
  read: version,
  resumable: ['create', 'poststart', 'delete'],
});

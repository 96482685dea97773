import { FatalError, type NodeScope, nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { argumentsOf, readFlags, valueOfFlag, withoutFlags } from '../program/flags';
import { withHelm } from '../program/open-helm';
import { flagsOf, helmConfig, REGISTRY_CONFIG, sleepTime } from './schema';

const PROPERTIES = z.object({
  helm_config: helmConfig,
  resource_config: REGISTRY_CONFIG,
  max_sleep_time: sleepTime(300),
});
type Scope = NodeScope<typeof PROPERTIES, z.ZodObject<Record<never, never>>>;

const HOST = /^[A-Za-z0-9][A-Za-z0-9.-]*(:\d{1,5})?$/;

/** Tries the login. Operations of releases get the credentials from the node. The password goes through standard input. */
async function login(scope: Scope): Promise<void> {
  const { resource_config: config } = scope.properties;
  const { ecr, host = '' } = config;
  if (typeof ecr === 'object' && ecr !== null && Object.keys(ecr).length > 0)
    throw new FatalError(
      'resource_config.ecr needs the API of AWS, which this plugin does not call: give host, username and password',
    );
  if (!HOST.test(host))
    throw new FatalError('resource_config.host: expected the name of a host, with its port');
  const flags = readFlags('resource_config.flags', config.flags, scope.inputs.flags);
  const [user, password] = [valueOfFlag(flags, 'username'), valueOfFlag(flags, 'password')];
  if (user === undefined || password === undefined)
    throw new FatalError('resource_config.flags: username and password are missing');
  scope.hide(password);
  const others = withoutFlags(flags, ['username', 'password', 'password-stdin']);
  await withHelm(scope, { needsSources: false }, async ({ helm }) => {
    const args = [
      'registry',
      'login',
      host,
      `--username=${user}`,
      '--password-stdin',
      ...argumentsOf(others),
    ];
    await helm.run(args, { input: `${password}\n` });
  });
  scope.log.info(`The login at ${host} works`);
}

/** A registry of charts that asks for a login, for the releases of the deployment. */
export const registry = nodeType({
  description: 'A registry of charts that asks for a login',
  properties: PROPERTIES,
  inputs: { create: z.object({ flags: flagsOf() }), delete: z.object({ flags: flagsOf() }) },
  mappings: {
    create: 'helm.cloudify_helm.tasks.registry_login',
    delete: 'helm.cloudify_helm.tasks.registry_logout',
    check_status: 'helm.cloudify_helm.tasks.check_ecr_status',
  },
  create: login,
  // No machine keeps a login.
  delete: () => null,
  async read(scope) {
    await login(scope);
    return {};
  },
  resumable: ['create', 'delete'],
});

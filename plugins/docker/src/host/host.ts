import { FatalError, type NodeScope, nodeType } from '@baton/plugin-sdk';
import { quote, type RunOptions } from '@baton/plugin-sdk/ssh';
import * as z from 'zod';
import { atMachine, DOCKER_MACHINE } from './machine';

const PROPERTIES = z.object({
  docker_machine: DOCKER_MACHINE.nullish().describe('The machine'),
  resource_config: z.object({
    install_url: z
      .string()
      .default('https://get.docker.com')
      .describe('Address of the script that installs Docker'),
    install_script: z
      .string()
      .default(
        'https://raw.githubusercontent.com/cloudify-cosmo/cloudify-docker-plugin/master/cloudify_docker/resources/post-install.sh',
      )
      .describe('Address of a script that runs afterwards; empty: none'),
    install_with_sudo: z.boolean().default(true).describe('Whether the commands run as root by sudo'),
    offline_installation: z
      .boolean()
      .default(false)
      .describe('Whether packages on the machine are installed'),
    package_tar_path: z.string().default('').describe('Archive of packages on the machine'),
    post_install_script_path: z.string().default('').describe('Script on the machine that runs afterwards'),
    installation_dir: z.string().default('').describe('Folder on the machine for the packages'),
  }),
});

type HostScope = NodeScope<typeof PROPERTIES, z.ZodObject<Record<never, never>>>;

/** Fetches a script to a file of its own, and runs it. */
const fetchAndRun = (address: string): string =>
  `f=$(mktemp) && curl -fsSL --proto '=http,https' -o "$f" -- ${quote(address)} && sh "$f"; r=$?; rm -f "$f"; exit $r`;

function installCommands({ properties }: HostScope): string[] {
  const { resource_config: config, docker_machine: machine } = properties;
  const group = `usermod -aG docker ${quote(machine?.docker_user ?? '')}`;
  if (!config.offline_installation) {
    if (config.install_url === '')
      throw new FatalError('resource_config.install_url: the address is missing');
    return [
      fetchAndRun(config.install_url),
      ...(config.install_script === '' ? [] : [fetchAndRun(config.install_script)]),
      group,
    ];
  }
  const { package_tar_path: archive, post_install_script_path: script, installation_dir: folder } = config;
  if (archive === '' || folder === '')
    throw new FatalError(
      'resource_config: an offline installation needs package_tar_path and installation_dir',
    );
  return [
    `mkdir -p -- ${quote(folder)} && tar -xf ${quote(archive)} -C ${quote(folder)}`,
    `dpkg -i ${quote(folder)}/*.deb`,
    ...(script === '' ? [] : [`sh ${quote(script)}`]),
    group,
  ];
}

const REMOVE =
  'if command -v apt-get >/dev/null; then DEBIAN_FRONTEND=noninteractive apt-get remove -y docker-ce docker-ce-cli docker.io containerd.io || ' +
  "apt-get remove -y 'docker*'; elif command -v yum >/dev/null; then yum remove -y 'docker*'; " +
  'else echo "there is neither apt-get nor yum" >&2; exit 1; fi';

async function runAll(scope: HostScope, commands: readonly string[]): Promise<void> {
  const { docker_machine: machine, resource_config: config } = scope.properties;
  const sudo = config.install_with_sudo && { password: machine?.sudo_password };
  const options: RunOptions = { sudo, onLine: (line) => scope.log.info(line) };
  await atMachine(scope, machine, async (connection) => {
    for (const command of commands) await connection.run(command, options);
  });
}

/** A machine on which Docker is installed over SSH. */
export const host = nodeType({
  description: 'A machine on which Docker is installed over SSH',
  properties: PROPERTIES,
  mappings: {
    create: 'docker.cloudify_docker.tasks.install_docker',
    delete: 'docker.cloudify_docker.tasks.uninstall_docker',
  },
  async create(scope) {
    await runAll(scope, installCommands(scope));
  },
  async delete(scope) {
    await runAll(scope, [REMOVE]);
  },
  resumable: ['create', 'delete'],
});

// Files and commands for containers, run by containers of a real engine.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testNode } from '@baton/plugin-sdk/testing';
import { type SshHost, sshHost } from '@baton/testkit';
import plugin from './plugin';
import { type TestEngine, testEngine } from './testing-engine';

let engine: TestEngine;
let host: SshHost;

beforeAll(async () => {
  [engine, host] = await Promise.all([testEngine(), sshHost()]);
});
afterAll(async () => {
  await engine?.stop();
  await host?.stop();
});

const VOLUME = '/in';
const machine = () => ({
  docker_ip: host.host,
  docker_user: host.user,
  docker_key: host.key,
  docker_port: host.port,
  container_volume: VOLUME,
  sudo_password: host.password,
});
type Files = Record<string, string>;
const node = (type: string, properties: object, files: Files = {}) =>
  testNode(plugin, `cloudify.nodes.docker.${type}`, { properties: properties as never, files });
const container = (
  tag: string,
  folder: unknown,
  args: Record<string, unknown> & { volumes?: string[]; volumes_mapping?: string[] },
) =>
  node('container', {
    client_config: { docker_sock_file: engine.socket },
    resource_config: {
      image_tag: tag,
      container_args: {
        ...args,
        volumes: [VOLUME, ...(args.volumes ?? [])],
        volumes_mapping: [String(folder), ...(args.volumes_mapping ?? args.volumes ?? [])],
      },
    },
  });
const mode = (path: string): number => statSync(path).mode & 0o777;

/** Ansible of this machine (Debian: ansible-core), in a container that has nothing else of it. */
const ANSIBLE = { volumes: ['/usr', '/lib', '/lib64', '/etc/passwd'] };
const KEY = '-----BEGIN OPENSSH PRIVATE KEY-----\nYWJj\n-----END OPENSSH PRIVATE KEY-----';
const SITE = `- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: "{{ greeting }} {{ lookup('file', 'who') }} by {{ ansible_ssh_private_key_file }}"
`;
const LOCAL = { ansible_connection: 'local', ansible_python_interpreter: '/usr/bin/python3' };

test('a playbook runs in a container by its command, and its files go with the node', async () => {
  const playbook = node(
    'ansible_playbook',
    {
      docker_machine: machine(),
      playbook_path: 'apache/site.yaml',
      sources: {
        web: {
          hosts: { one: { ...LOCAL, ansible_ssh_private_key_file: KEY, ansible_password: 'geheim-1' } },
        },
      },
      run_data: { greeting: `it's "me"` },
      options_config: { limit: 'one' },
    },
    { 'apache/site.yaml': SITE, 'apache/files/who': 'someone', 'other/file': 'not wanted' },
  );
  await playbook.run('precreate', { sources: playbook.properties.sources as never });
  await playbook.run('create');
  const {
    destination,
    ansible_container_command_arg: command,
    ansible_env_vars,
  } = playbook.runtimeProperties;
  const run = container('base:1', destination, {
    ...ANSIBLE,
    ...{ command, environment: { ...(ansible_env_vars as object), HOME: '/tmp' } },
  });
  await run.run('create');
  expect(String(run.runtimeProperties.run_result)).toContain(`it's \\"me\\" someone by /in/.ssh-key-1`);
  expect(run.runtimeProperties.exit_code).toBe(0);
  await run.run('delete');

  const folder = String(destination);
  expect([mode(folder), mode(join(folder, '.ssh-key-1')), mode(join(folder, 'hosts'))]).toEqual([
    0o700, 0o600, 0o600,
  ]);
  expect(existsSync(join(folder, 'playbook/file'))).toBe(false);
  expect(JSON.stringify([playbook.runtimeProperties, playbook.log])).not.toMatch(/geheim-1|YWJj/);
  await playbook.run('delete');
  expect(existsSync(folder)).toBe(false);
  expect(playbook.runtimeProperties).toEqual({});
});

test('ansible_sources give container_files an inventory and a command; a folder that was there loses only what was added', async () => {
  const folder = mkdtempSync(join(host.home, 'given-'));
  execFileSync('chown', ['-R', `${statSync(host.home).uid}`, folder]);
  writeFileSync(join(folder, 'mine'), 'mine');
  const files = node(
    'container_files',
    {
      resource_config: {
        docker_machine: machine(),
        source: 'site.yaml',
        extra_files: ['who'],
        destination: folder,
        ansible_sources: {
          ...LOCAL,
          container_volume: VOLUME,
          playbook_path: 'site.yaml',
          greeting: 'hello',
          ansible_ssh_private_key_file: KEY,
        },
      },
    },
    { 'site.yaml': SITE, who: 'you' },
  );
  await files.run('create');
  expect(files.runtimeProperties).toMatchObject({
    ansible_container_command_arg: 'ansible-playbook -i hosts site.yaml',
  });
  const run = container('base:1', folder, {
    ...ANSIBLE,
    ...{
      command: files.runtimeProperties.ansible_container_command_arg,
      working_dir: VOLUME,
      environment: { HOME: '/tmp' },
    },
  });
  await run.run('create');
  expect(String(run.runtimeProperties.run_result)).toContain('hello you by /in/.ssh-key-1');
  await run.run('delete');
  await files.run('delete');
  expect(existsSync(join(folder, 'mine'))).toBe(true);
  expect([existsSync(join(folder, 'hosts')), existsSync(join(folder, '.ssh-key-1'))]).toEqual([false, false]);
});

/** A program that shows how it is called, for machines without Terraform. */
const SHOWS =
  '#!/bin/sh\necho "terraform $*"\n[ "$1" = plan ] && cat vars.json\nbusybox mkdir -p left && touch left/by-root\nexit 0\n';

async function showingImage(): Promise<void> {
  await node(
    'image',
    {
      client_config: { docker_sock_file: engine.socket },
      resource_config: {
        image_content: 'FROM base:1\nCOPY terraform /bin/terraform',
        tag: 'terraform:1',
        context: { terraform: 'terraform' },
      },
    },
    { terraform: SHOWS },
  ).run('create');
}

/** Serves one file at any address. */
async function serving(bytes: Buffer): Promise<{ server: Server; address: string }> {
  const server = createServer((_request, response) => response.end(bytes));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, address: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
}

/** An archive with one folder, as code hosts make them. */
function archiveOf(name: string, content: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'baton-archive-'));
  try {
    execFileSync('mkdir', [join(folder, 'module-1')]);
    writeFileSync(join(folder, 'module-1', name), content);
    return execFileSync('tar', ['-czf', '-', '-C', folder, 'module-1']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('a module from an address with providers, variables and a backend is applied by its command', async () => {
  await showingImage();
  const { server, address } = await serving(archiveOf('main.tf', ''));
  const module = node(
    'terraform_module',
    {
      docker_machine: machine(),
      terraform_plugins: ['provider'],
      resource_config: {
        source: `${address}/archive`,
        variables: { who: 'a "quoted" word' },
        backend: { name: 'local', options: { path: 'here.tfstate' } },
        environment_variables: { TF_LOG: 'off' },
      },
    },
    { provider: 'a program' },
  );
  try {
    await module.run('create');
  } finally {
    server.close();
  }
  const { destination, ...runtime } = module.runtimeProperties;
  expect(runtime).toMatchObject({
    storage_dir: '/in/storage',
    plugins_dir: '/in/plugins',
    variables_file: '/in/storage/vars.json',
    environment_variables: { TF_LOG: 'off' },
  });
  const folder = String(destination);
  expect(existsSync(join(folder, 'storage/main.tf'))).toBe(true);
  expect(mode(join(folder, 'plugins/provider'))).toBe(0o755);
  expect(mode(join(folder, 'storage/vars.json'))).toBe(0o600);
  const backend = JSON.parse(readFileSync(join(folder, 'storage/baton_override.tf.json'), 'utf8'));
  expect(backend).toEqual({ terraform: { backend: { local: { path: 'here.tfstate' } } } });

  const apply = container('terraform:1', folder, {
    ...{ command: runtime.terraform_container_command_arg, working_dir: runtime.storage_dir },
  });
  await apply.run('create');
  expect(String(apply.runtimeProperties.run_result).split('\n')).toEqual([
    'terraform init -no-color -input=false -plugin-dir=/in/plugins',
    'terraform plan -no-color -input=false -out=baton.tfplan -var-file=vars.json',
    '{"who":"a \\"quoted\\" word"}terraform apply -no-color -input=false baton.tfplan',
    'terraform output -no-color',
    '',
  ]);
  // The container has ended: the command runs in one of the same settings.
  await apply.run('stop', { stop_command: 'terraform destroy -var-file /in/storage/vars.json' });
  expect(apply.log.map(({ message }) => message)).toContain(
    'terraform destroy -var-file /in/storage/vars.json',
  );
  await expect(apply.run('stop', { stop_command: 'sh -c "exit 4"' })).rejects.toThrow(
    'stop_command ended with 4',
  );
  await apply.run('delete');
  expect(engine.docker('ps', '-aq', '--filter', 'ancestor=terraform:1')).toBe('');
  await module.run('delete');
  expect(existsSync(folder)).toBe(false);
});

test('terraform_sources give container_files a module in a folder of its own', async () => {
  await showingImage();
  const files = node(
    'container_files',
    {
      resource_config: {
        docker_machine: machine(),
        source: 'main.tf',
        terraform_sources: { container_volume: VOLUME, storage_dir: 'a module', variables: { a: 1 } },
      },
    },
    { 'main.tf': 'output "a" { value = 1 }' },
  );
  await files.run('create');
  const { destination, terraform_container_command_arg: command, storage_dir } = files.runtimeProperties;
  expect(storage_dir).toBe('/in/a module');
  expect(existsSync(join(String(destination), 'a module/main.tf'))).toBe(true);
  const apply = container('terraform:1', destination, { command });
  await apply.run('create');
  expect(String(apply.runtimeProperties.run_result)).toContain('{"a":1}terraform apply');
  await apply.run('delete');
  await files.run('delete');
});

const which = spawnSync('sh', ['-c', 'command -v terraform'], { encoding: 'utf8' }).stdout.trim();
// Where this machine has the real program, it takes the script, the variables and the backend as they are.
if (which !== '')
  test('the real terraform applies a module of a folder, and destroys it when the container is stopped', async () => {
    const main =
      'variable "who" {}\noutput "greeting" { value = join(" ", ["hello", var.who]) }\nterraform {\n  backend "local" {}\n}';
    const module = node(
      'terraform_module',
      {
        docker_machine: machine(),
        resource_config: {
          source: 'modules/one',
          variables: { who: 'you' },
          backend: { name: 'local', options: { path: 'here.tfstate' } },
        },
      },
      { 'modules/one/main.tf': main, 'modules/two/main.tf': 'not this' },
    );
    await module.run('create');
    const { destination, terraform_container_command_arg: command, storage_dir } = module.runtimeProperties;
    const apply = container('base:1', destination, {
      ...{ command, working_dir: storage_dir },
      volumes: ['/bin/terraform'],
      volumes_mapping: [which],
    });
    await apply.run('create');
    expect(String(apply.runtimeProperties.run_result)).toMatch(/greeting = "hello you"\s*$/);
    const state = () => readFileSync(join(String(destination), 'storage/here.tfstate'), 'utf8');
    expect(state()).toContain('hello you');
    await apply.run('stop', { stop_command: 'terraform destroy -auto-approve -var-file vars.json' });
    expect(state()).not.toContain('hello you');
    await apply.run('delete');
    await module.run('delete');
    expect(existsSync(String(destination))).toBe(false);
  });

test('the mapping start_container runs a container that has ended once more', async () => {
  const started = testNode(plugin, 'cloudify.nodes.docker.container', {
    properties: {
      client_config: { docker_sock_file: engine.socket },
      resource_config: {
        image_tag: 'base:1',
        container_args: { command: `sh -c 'echo once >> /log; cat /log'` },
      },
    } as never,
  });
  await started.run('create');
  expect(started.runtimeProperties.run_result).toBe('once\n');
  for (const runs of [2, 3, 4]) {
    await started.run('cloudify_docker.tasks.start_container');
    expect(started.runtimeProperties).toMatchObject({ run_result: 'once\n'.repeat(runs), exit_code: 0 });
  }
  await started.run('delete');
});

test.each([
  ['ansible_playbook', { playbook_path: '../site.yaml' }, 'playbook_path: expected a path inside'],
  [
    'ansible_playbook',
    { playbook_path: 'none.yaml', additional_playbook_files: ['/etc/passwd'] },
    'none.yaml',
  ],
  ['ansible_playbook', {}, 'playbook_path: the playbook is missing'],
  [
    'terraform_module',
    { resource_config: { source: 'file:///etc/passwd' } },
    'resource_config.source: expected',
  ],
  [
    'terraform_module',
    { resource_config: { source: '/etc' } },
    'resource_config.source: expected a path inside',
  ],
  [
    'container_files',
    { resource_config: { terraform_sources: { storage_dir: '../../etc' } } },
    'terraform_sources.storage_dir: expected a path inside',
  ],
  [
    'container_files',
    { resource_config: { ansible_sources: { ansible_user: 'me' } } },
    'ansible_sources.playbook_path: the playbook is missing',
  ],
])('%s refuses %j', async (type, properties, message) => {
  const { resource_config: config } = properties as { resource_config?: object };
  const given =
    type === 'container_files'
      ? { resource_config: { ...config, docker_machine: machine() } }
      : { ...properties, docker_machine: machine() };
  const bad = node(type, given);
  await expect(bad.run('create')).rejects.toMatchObject({
    exceptionType: 'NonRecoverableError',
    message: expect.stringContaining(message),
  });
  await bad.run('delete');
});

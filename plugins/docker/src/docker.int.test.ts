// Images and containers of a real engine: by its socket, by TLS and by SSH.
import { join } from 'node:path';
import * as language from '@baton/dsl';
import { checkPlugin, crashEverywhere, testNode } from '@baton/plugin-sdk/testing';
import { eventually, type SshHost, sshHost } from '@baton/testkit';
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

const socket = () => ({ docker_sock_file: engine.socket });
const image = (config: object, client: object = socket(), files: Record<string, string> = {}) =>
  testNode(plugin, 'cloudify.nodes.docker.image', {
    properties: { client_config: client, resource_config: config } as never,
    files,
  });
const container = (args: object, client: object = socket(), tag = 'base:1') =>
  testNode(plugin, 'cloudify.nodes.docker.container', {
    properties: { client_config: client, resource_config: { image_tag: tag, container_args: args } } as never,
  });
const running = (id: unknown): string =>
  engine.docker('inspect', '--format', '{{.State.Status}}', String(id)).trim();

test('an image is built with files of the blueprint, drifts, is healed and removed', async () => {
  const files = { 'resources/greeting': 'hello' };
  const config = {
    image_content: 'FROM base:1\nCOPY g /greeting\nCMD ["cat", "/greeting"]',
    tag: 'greeting:1',
    context: { g: 'resources/greeting' },
  };
  const made = image(config, socket(), files);
  await made.run('create');
  expect(made.runtimeProperties).toMatchObject({
    image: 'greeting:1',
    image_id: expect.stringMatching(/^sha256:/),
  });
  expect(engine.docker('run', '--rm', 'greeting:1')).toBe('hello');
  expect(await made.run('check_drift')).toBeNull();

  engine.docker('tag', 'base:1', 'greeting:1');
  const { image_id: stored } = made.runtimeProperties;
  const present = engine.docker('inspect', '--format', '{{.Id}}', 'base:1').trim();
  expect(await made.run('check_drift')).toEqual([{ path: 'image_id', stored, present }]);
  // What has the name now belongs to somebody else.
  await made.run('delete');
  expect(engine.docker('images', '-q', 'greeting:1')).not.toBe('');

  const again = image(config, socket(), files);
  await again.run('create');
  engine.docker('rmi', '-f', 'greeting:1');
  await expect(again.run('check_status')).rejects.toThrow('does not exist any more');
  await again.run('heal');
  expect(await again.run('check_status')).toBeNull();
  await again.run('delete');
  expect(engine.docker('images', '-q', 'greeting:1')).toBe('');
  expect(again.runtimeProperties).toEqual({});
});

test('a build that fails says the line of the engine; an image that was there before stays', async () => {
  const failed = image({ image_content: 'FROM base:1\\nRUN no-such-program', tag: 'bad:1' }).run('create');
  await expect(failed).rejects.toMatchObject({
    exceptionType: 'NonRecoverableError',
    message: expect.stringMatching(/the build of bad:1 failed: .*no-such-program|returned a non-zero code/),
  });
  const there = image({ pull_image: true, tag: 'base:1' });
  await there.run('create');
  await there.run('delete');
  expect(engine.docker('images', '-q', 'base:1')).not.toBe('');
});

test('a container that runs: arguments, drift of its image, stop with a command, delete', async () => {
  const one = container({
    command: `sh -c "echo up; exec sleep 1000"`,
    name: 'one',
    environment: { GREETING: 'two words' },
    labels: { team: 'a' },
    host_config: { restart_policy: { Name: 'no' }, mem_limit: '64m' },
    volumes: ['/in'],
    volumes_mapping: [host.home],
    detach: true,
  });
  await one.run('create');
  const { container: id } = one.runtimeProperties;
  expect(running(id)).toBe('running');
  const seen = JSON.parse(engine.docker('inspect', 'one'))[0];
  expect(seen.Config).toMatchObject({
    Cmd: ['sh', '-c', 'echo up; exec sleep 1000'],
    Env: expect.arrayContaining(['GREETING=two words']),
  });
  expect(seen.HostConfig).toMatchObject({ Memory: 64 * 1024 * 1024, Binds: [`${host.home}:/in`] });
  expect([await one.run('check_status'), await one.run('check_drift')]).toEqual([null, null]);

  engine.docker('tag', 'base:1', 'kept:1');
  await one.run('stop', { stop_command: 'touch /in/was-stopped' });
  expect(running(id)).toBe('exited');
  expect(engine.docker('run', '--rm', '-v', `${host.home}:/in`, 'base:1', 'cat', '/in/was-stopped')).toBe('');
  await expect(one.run('check_status')).rejects.toThrow('does not exist any more');
  await one.run('heal');
  expect(running(one.runtimeProperties.container)).toBe('running');
  await one.run('delete');
  await one.run('delete');
  expect(engine.docker('ps', '-aq', '--filter', 'name=one')).toBe('');
});

test('a container that ends is followed, and its output is kept', async () => {
  const job = container({ command: ['sh', '-c', 'echo out; echo err >&2; exit 3'] });
  await job.run('create');
  expect(job.runtimeProperties).toMatchObject({ exit_code: 3 });
  // The engine keeps no order between the two outputs.
  expect(String(job.runtimeProperties.run_result).split('\n').sort()).toEqual(['', 'err', 'out']);
  expect(job.log.map(({ message }) => message)).toContain('the container has ended with 3');
  expect(await job.run('check_status')).toBeNull();
  await job.run('delete');
});

test('a newer image under the name is drift', async () => {
  engine.docker('tag', 'base:1', 'moving:1');
  const one = container({ command: 'sleep 1000', detach: true }, socket(), 'moving:1');
  await one.run('create');
  expect(await one.run('check_drift')).toBeNull();
  const newer = image({ image_content: 'FROM base:1\nLABEL version=2', tag: 'moving:1' });
  await newer.run('create');
  expect(await one.run('check_drift')).toEqual([expect.objectContaining({ path: 'image_id' })]);
  await one.run('heal');
  expect(await one.run('check_drift')).toBeNull();
  await one.run('delete');
});

test('a worker that is lost at any step makes no second container', async () => {
  const all = (): string[] =>
    engine.docker('ps', '-aq', '--filter', 'label=io.baton.task').split('\n').filter(Boolean);
  await crashEverywhere(() => container({ command: 'sleep 1000', detach: true }), 'create', { effects: all });
  for (const id of all()) engine.docker('rm', '-f', id);
});

test('the contract of plugins: descriptions, plugin.yaml, lost workers, hidden values', async () => {
  const client = { client_config: socket() };
  const files = { 'site.yaml': '[]', who: 'me', 'main.tf': '' };
  const sample = (type: string, properties: object, order: string[]) => ({
    properties: properties as never,
    make: (given: never) => testNode(plugin, `cloudify.nodes.docker.${type}`, { properties: given, files }),
    order,
  });
  const build = { image_content: 'FROM base:1\nLABEL a=b', tag: 'contract:1' };
  const machine = {
    docker_ip: host.host,
    docker_user: host.user,
    docker_key: host.key,
    docker_port: host.port,
  };
  const run = { image_tag: 'base:1', container_args: { command: 'echo a' } };
  const { survived } = await checkPlugin(plugin, {
    language,
    samples: {
      'cloudify.nodes.docker.image': sample('image', { ...client, resource_config: build }, [
        'create',
        'delete',
      ]),
      'cloudify.nodes.docker.container': sample('container', { ...client, resource_config: run }, [
        'create',
        'stop',
        'delete',
      ]),
      'cloudify.nodes.docker.images': sample('images', client, ['create']),
      'cloudify.nodes.docker.container_files': sample(
        'container_files',
        { resource_config: { docker_machine: machine } },
        ['create', 'delete'],
      ),
      'cloudify.nodes.docker.ansible_playbook': sample(
        'ansible_playbook',
        { docker_machine: machine, playbook_path: 'site.yaml', additional_playbook_files: ['who'] },
        ['precreate', 'create', 'delete'],
      ),
      'cloudify.nodes.docker.terraform_module': sample(
        'terraform_module',
        { docker_machine: machine, resource_config: { source: 'main.tf', variables: { a: 1 } } },
        ['create', 'delete'],
      ),
    },
  });
  expect(survived).toHaveLength(13);
  // What runs with a crash is not removed by the check.
  for (const id of engine.docker('ps', '-aq').split('\n').filter(Boolean)) engine.docker('rm', '-f', id);
}, 180_000);

test.each(['TLS', 'SSH'])('lists over %s', async (way) => {
  const client =
    way === 'TLS'
      ? { docker_host: '127.0.0.1', docker_rest_port: engine.port, tls: engine.tls }
      : {
          docker_host: host.host,
          docker_sock_file: engine.socket,
          ssh: { user: 'root', key: host.key, port: host.port, known_hosts: [host.hostKey] },
        };
  const list = async (type: string) => {
    const one = testNode(plugin, `cloudify.nodes.docker.${type}`, {
      properties: { client_config: client } as never,
    });
    await one.run('create');
    return one.runtimeProperties;
  };
  expect((await list('images')).images).toEqual(
    expect.arrayContaining([expect.objectContaining({ RepoTags: expect.arrayContaining(['base:1']) })]),
  );
  expect((await list('host_details')).host_details).toMatchObject({ Driver: 'vfs' });
  expect(await list('containers')).toEqual({ contianers: [], containers: [] });
});

test('an engine that is not trusted, or not there, or not named', async () => {
  const strange = { docker_host: '127.0.0.1', docker_rest_port: String(engine.port), tls: {} };
  await expect(container({}, strange).run('create')).rejects.toMatchObject({
    exceptionType: 'RecoverableError',
  });
  await expect(container({}, { docker_sock_file: '/none.sock' }).run('create')).rejects.toThrow('ENOENT');
  await expect(container({}, {}).run('create')).rejects.toThrow('client_config: expected docker_host');
  await expect(container({ comand: 'x' }).run('create')).rejects.toThrow(
    'container_args.comand: there is no such argument; did you mean command?',
  );
  await expect(container({}, socket(), 'none:1').run('create')).rejects.toMatchObject({
    exceptionType: 'NonRecoverableError',
  });
});

test('files of the blueprint come to the machine of containers, and go with the node that made their folder', async () => {
  const machine = {
    docker_ip: host.host,
    docker_user: host.user,
    docker_key: host.key,
    docker_port: host.port,
  };
  const files = (destination: string) =>
    testNode(plugin, 'cloudify.nodes.docker.container_files', {
      properties: {
        resource_config: {
          docker_machine: machine,
          source: 'resources/a file',
          extra_files: ['b.txt'],
          destination,
        },
      } as never,
      files: { 'resources/a file': 'a', 'b.txt': 'b' },
    });
  const own = files(join(host.home, 'its own'));
  await own.run('create');
  expect(
    engine.docker(
      'run',
      '--rm',
      '-v',
      `${host.home}/its own:/in`,
      'base:1',
      'cat',
      '/in/a file',
      '/in/b.txt',
    ),
  ).toBe('ab');
  await own.run('delete');
  const given = files(host.home);
  await given.run('create');
  await given.run('delete');
  expect(given.log.map(({ message }) => message).join()).toContain('was there before this node');
  const fresh = files('');
  await fresh.run('create');
  expect(fresh.runtimeProperties).toMatchObject({
    destination: expect.stringMatching(/^\/tmp\//),
    docker_host: host.host,
  });
  await fresh.run('delete');
});

test('a cancel ends what follows a container', async () => {
  const stop = new AbortController();
  const job = container({ command: 'sleep 1000', name: 'followed' });
  const following = job.run('create', {}, { signal: stop.signal });
  following.catch(() => undefined);
  await eventually(() => engine.docker('ps', '-q', '--filter', 'name=followed') !== '');
  stop.abort();
  await expect(following).rejects.toThrow('the operation is stopped');
  engine.docker('rm', '-f', 'followed');
});

test('Docker is installed on a machine by the scripts of two addresses, as root', async () => {
  const { createServer } = await import('node:http');
  const server = createServer((request, response) =>
    response.end(
      `echo "$(id -un) ${request.url}" >> ${host.folder}/installed; groupadd -f docker 2>/dev/null; true`,
    ),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const machine = {
    docker_ip: host.host,
    docker_user: host.user,
    docker_key: host.key,
    docker_port: host.port,
    sudo_password: host.password,
  };
  const install = (more: object) =>
    testNode(plugin, 'cloudify.nodes.docker.host', {
      properties: { docker_machine: machine, resource_config: { install_script: '', ...more } } as never,
    }).run('create');
  try {
    const address = `http://127.0.0.1:${port}`;
    // The account lives in a mounted file, which usermod cannot replace: the last command fails.
    await expect(
      install({ install_url: `${address}/install'$(id)`, install_script: `${address}/after` }),
    ).rejects.toThrow('usermod');
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(join(host.folder, 'installed'), 'utf8')).toMatch(
      /^root \/install.*\nroot \/after\n$/,
    );
  } finally {
    server.close();
  }
});

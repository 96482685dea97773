// The operations of agents with a real sshd, and the REST routes in memory.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, isoInstant, type JsonObject } from '@baton/kernel';
import { isRunning, makeRig, type Rig } from '@baton/plugin-runtime/testing';
import { eventually, type SshHost, sshHost } from '@baton/testkit';
import { type ManagerDouble, managerDouble } from '../testing/manager-double';
import { agentPlugin } from './plugin';

jest.setTimeout(60_000);

let host: SshHost;
let manager: ManagerDouble;
let rig: Rig;
let clock: Clock & { advance(ms: number): void };
const NAME = 'web_abc123';

beforeAll(async () => {
  host = await sshHost();
});
afterAll(async () => await host?.stop());
beforeEach(async () => {
  manager = await managerDouble();
  let now = Date.UTC(2026, 0, 1);
  clock = {
    now: () => now,
    monotonic: () => now,
    advance: (ms) => {
      now += ms;
    },
  };
  rig = makeRig();
  rig.deps.operations = new Map(
    Object.entries(agentPlugin({ managerUrl: manager.url, clock, reach: async (host) => host }).operations),
  );
  setProperties({});
});
afterEach(async () => await manager?.stop());

/** `config`: more of agent_config. */
function setProperties(config: JsonObject, others: JsonObject = {}): void {
  const login = { user: host.user, key: host.key, port: host.port };
  const extra = { install_with_sudo: false, basedir: basedir() };
  rig.host.nodes.get('web')!.properties = {
    ip: host.host,
    agent_config: { install_method: 'remote', ...login, extra, ...config },
    ...others,
  };
  const instance = rig.host.instances.get(NAME)!;
  rig.host.instances.set(NAME, { ...instance, host_id: NAME });
}

const basedir = (): string => join(host.home, 'agents');
const runtime = (): JsonObject => rig.host.instances.get(NAME)!.runtime_properties;
const lines = (): string => rig.host.lines.map(({ message }) => message).join('\n');
const operation = (name: string, inputs: JsonObject = {}, signal?: AbortSignal) =>
  rig.run(
    { mapping: `cloudify_agent.${name.includes('.') ? name : `installer.operations.${name}`}`, inputs },
    signal,
  );

describe('remote', () => {
  it('installs over SSH with its lines in the log, and removes all of it', async () => {
    expect(await operation('create')).toMatchObject({ kind: 'succeeded' });
    expect(manager.states).toEqual(['creating', 'creating', 'started']);
    expect(manager.records.get(NAME)).toMatchObject({
      ip: host.host,
      install_method: 'remote',
      node_instance_id: NAME,
    });
    expect(existsSync(join(basedir(), NAME, 'current/baton-agent'))).toBe(true);
    // The session has ended, the agent runs on.
    const pid = Number(readFileSync(join(basedir(), NAME, 'supervise.pid'), 'utf8').trim());
    expect(isRunning(pid)).toBe(true);
    expect(lines()).toContain(`enrolled as ${host.user}`);
    expect(lines()).not.toContain('good');
    expect(lines()).not.toContain('PRIVATE KEY');
    expect(manager.enrolments[0]).not.toHaveProperty('options.key');
    expect(runtime()).toMatchObject({
      cloudify_agent: {
        name: NAME,
        queue: NAME,
        ip: host.host,
        user: host.user,
        install_method: 'remote',
        network: 'default',
      },
      __baton_host_keys: { [`${host.host}:${host.port}`]: expect.stringContaining('SHA256:') },
    });
    expect(await operation('stop')).toMatchObject({ kind: 'succeeded' });
    expect(await operation('delete')).toMatchObject({ kind: 'succeeded' });
    expect(manager.records.size).toBe(0);
    expect(readdirSync(host.home)).not.toContain('agents');
    expect(isRunning(pid)).toBe(false);
    expect(runtime()).not.toHaveProperty('cloudify_agent');
  });

  it('fails with the meaning of the exit code, says failed, and cleans up', async () => {
    manager.token = 'used';
    const end = await operation('create');
    expect(end).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { message: expect.stringMatching(/the token is refused.*\(exit code 40\)/) },
    });
    expect(manager.states.at(-1)).toBe('failed');
    expect(readdirSync(host.home)).not.toContain('agents');
  });

  it('tries again while a manager that has just started serves no packages yet', async () => {
    manager.served = [];
    expect(await operation('create')).toMatchObject({
      kind: 'failed',
      isRecoverable: true,
      failure: { message: expect.stringMatching(/serves no package .*not yet.*\(exit code 31\)/) },
    });
    manager.served = null;
    expect(await operation('create')).toMatchObject({ kind: 'succeeded' });
    expect(manager.enrolments).toHaveLength(2);
    expect(manager.states.at(-1)).toBe('started');
    expect(await operation('delete')).toMatchObject({ kind: 'succeeded' });
  });

  it('names what is missing and where to write it, and tells nothing of a key that is a path', async () => {
    setProperties({ user: '', key: '' });
    expect(await operation('create')).toMatchObject({
      failure: {
        message: expect.stringMatching(/user and key or password missing.*agent_config of node web/),
      },
    });
    setProperties({ key: '/etc/cloudify/key.pem' });
    expect(await operation('create')).toMatchObject({
      isRecoverable: false,
      failure: { message: expect.stringContaining('get_secret') },
    });
    setProperties({}, { os_family: 'windows' });
    expect(await operation('create')).toMatchObject({
      isRecoverable: false,
      failure: { message: expect.stringContaining('Windows') },
    });
  });

  it('refuses a host whose key has changed, before a script is sent', async () => {
    const key = `SHA256:${'A'.repeat(43)}`;
    const instance = rig.host.instances.get(NAME)!;
    instance.runtime_properties = { __baton_host_keys: { [`${host.host}:${host.port}`]: key } };
    expect(await operation('create')).toMatchObject({
      isRecoverable: false,
      failure: { message: expect.stringContaining('which is not the known one') },
    });
    expect(manager.enrolments).toEqual([]);
  });

  it('deletes the record of an agent whose host is gone', async () => {
    manager.records.set(NAME, { state: 'started' });
    setProperties({ port: 1 });
    expect(await operation('delete')).toMatchObject({ kind: 'succeeded' });
    expect(manager.records.size).toBe(0);
    expect(lines()).toContain('was not removed from its host');
  });
});

describe('init_script and provided', () => {
  it('offer a link; a script that was made before keeps its token', async () => {
    setProperties({ install_method: 'provided', user: 'centos' });
    expect(await operation('create')).toMatchObject({ kind: 'succeeded' });
    expect(runtime().cloudify_agent).toMatchObject({
      install_script_download_link: `${manager.url}/agent/v1/install/link1`,
    });
    expect(lines()).toContain(`${manager.url}/agent/v1/install/link1`);
    expect(manager.enrolments).toMatchObject([{ options: { install_method: 'provided', user: 'centos' } }]);
    await operation('create');
    expect(manager.enrolments).toHaveLength(1);
  });

  it('wait for the stream without a place, say nonresponsive after 300 s, and give up after an hour', async () => {
    setProperties({ install_method: 'init_script' });
    await operation('create');
    expect(await operation('start')).toMatchObject({ kind: 'deferred', checkAfter: 2 });
    clock.advance(301_000);
    expect(await operation('start')).toMatchObject({ kind: 'deferred', checkAfter: 15 });
    expect(manager.states.at(-1)).toBe('nonresponsive');
    clock.advance(3_600_000);
    expect(await operation('start')).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { message: expect.stringContaining(`Agent ${NAME} did not start in 3600 seconds`) },
    });
    manager.connection = { is_connected: true, version: '1.0', about: { processManagement: 'detach' } };
    expect(await operation('start')).toMatchObject({ kind: 'succeeded' });
    expect(runtime().cloudify_agent).toMatchObject({
      version: '1.0',
      process_management: { name: 'detach' },
    });
    expect(manager.states.at(-1)).toBe('started');
    expect(runtime()).not.toHaveProperty('_agent_wait');
  });
});

describe('validate and upgrade', () => {
  const validate = (): ReturnType<Rig['run']> => operation('operations.validate_agent_amqp');
  const createNew = (): ReturnType<Rig['run']> => operation('operations.create_agent_amqp');

  it('tell whether the stream has a sign of life', async () => {
    manager.records.set(NAME, { state: 'restored' });
    expect(await validate()).toMatchObject({ kind: 'deferred' });
    clock.advance(21_000);
    expect(await validate()).toMatchObject({
      isRecoverable: true,
      failure: { message: expect.stringContaining('comes from a snapshot') },
    });
    expect(runtime().agent_status).toMatchObject({ agent_alive: false });
    manager.connection = { is_connected: true, last_seen: isoInstant(clock.now()) };
    expect(await validate()).toMatchObject({ kind: 'succeeded' });
    expect(runtime().agent_status).toMatchObject({ agent_alive: true, agent_alive_error: null });
  });

  it('upgrade a connected agent, and tell why it went back', async () => {
    manager.records.set(NAME, { state: 'started' });
    manager.connection = { is_connected: true, version: '1.0' };
    expect(await createNew()).toMatchObject({ kind: 'deferred' });
    expect(await createNew()).toMatchObject({ kind: 'deferred' });
    expect(manager.upgrades).toEqual([{ names: [NAME] }]);
    manager.connection.about = { upgrade: { version: '9.9.1', state: 'undone', reason: 'no stream' } };
    expect(await createNew()).toMatchObject({
      isRecoverable: false,
      failure: { message: expect.stringContaining('no stream') },
    });
    manager.connection = { is_connected: true, version: '1.0' };
    await createNew();
    manager.connection = { is_connected: true, version: '9.9.1' };
    expect(await createNew()).toMatchObject({ kind: 'succeeded' });
  });

  it('install an agent of a snapshot over SSH, and say how it is done where SSH does not help', async () => {
    manager.records.set(NAME, { state: 'restored', node_instance_id: NAME });
    expect(await createNew()).toMatchObject({ kind: 'succeeded' });
    expect(existsSync(join(basedir(), NAME, 'current'))).toBe(true);
    await operation('delete');
    manager.records.set(NAME, { state: 'restored', node_instance_id: NAME });
    setProperties({ install_method: 'init_script' });
    expect(await createNew()).toMatchObject({
      isRecoverable: false,
      failure: { message: expect.stringMatching(/only SSH.*curl .*install\/link/s) },
    });
  });
});

it('a stopped operation ends the script at the host', async () => {
  manager.packages.cutAfter = 0;
  const control = new AbortController();
  const running = operation('create', {}, control.signal);
  await eventually(async () => expect(lines()).toContain('download the agent'));
  control.abort('cancelled');
  expect(await running).toMatchObject({ kind: 'stopped' });
  expect(manager.states).not.toContain('failed');
});

it('hosts without an agent of their own get none', async () => {
  const configs: JsonObject[] = [
    { install_method: 'none' },
    { install_method: 'ssh' },
    { extra: { proxy: { deployment: 'other' } } },
  ];
  for (const config of configs) {
    setProperties(config);
    expect(await operation('create')).toMatchObject({ kind: 'succeeded' });
    expect(await operation('start')).toMatchObject({ kind: 'succeeded' });
    expect(await operation('delete')).toMatchObject({ kind: 'succeeded' });
  }
  expect(manager.states).toEqual([]);
});

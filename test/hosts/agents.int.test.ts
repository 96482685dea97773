// Agents on hosts of their own, from a blueprint to the uninstallation: reference/agents.md ch. 1 and S12 to S16.
import { hostname } from 'node:os';
import { ApiError } from '@baton/client';
import { eventually } from '@baton/testkit';
import { call, follow, followExecution, succeed } from '../harness/session';
import { startWorld, type World } from './manager';
import {
  byKey,
  connectionOf,
  deployOnHost,
  instanceOf,
  KEY_SECRET,
  ledgerOf,
  outputsOf,
  probe,
  startByCron,
  startSlow,
} from './on-host';
import { connectProxy, type Host } from './rig';

jest.setTimeout(300_000);
const DEADLINE = { deadlineMs: 60_000 };

let world: World;
let one: Host;
let two: Host;
let three: Host;
beforeAll(async () => {
  world = await startWorld(3);
  [one, two, three] = world.hosts as [Host, Host, Host];
  for (const host of world.hosts) await host.must('chmod 1777 /srv');
});
afterAll(() => world?.stop());

/** The files of users, their former versions and locks: useradd and userdel leave them. */
const USERS = /^\/etc\/((passwd|shadow|group|gshadow|subuid|subgid)-?|\.pwd\.lock)$/;

/** What an installation has left on a host: paths and processes that were not there before. */
async function leftOn(host: Host, before: readonly string[]): Promise<unknown> {
  const paths = host
    .paths()
    .filter((path) => !before.includes(path) && !path.startsWith('/srv/') && !USERS.test(path));
  return { paths, processes: await host.processes() };
}
const NOTHING = { paths: [], processes: [] };

/** Name of the one agent of a deployment, which is also the id of its node instance. */
async function agentOf(deployment: string): Promise<string> {
  const query = { deployment_id: deployment };
  const { items } = await call(world.client, 'listAgents', {}, undefined, query);
  expect(items).toHaveLength(1);
  return items[0].id;
}

test('remote: three hosts are logged into, scripts run on their own host, and nothing is left afterwards', async () => {
  const before = world.hosts.map((host) => host.paths());
  const install = async (host: Host): Promise<string[]> => {
    const id = `on-${host.name}`;
    await deployOnHost(world.client, id, host, byKey(host));
    return (await succeed(world.client, id, 'install')).messages;
  };
  const said = await Promise.all(world.hosts.map(install));
  for (const [i, host] of world.hosts.entries()) {
    const id = `on-${host.name}`;
    const { app, beside } = await outputsOf(world.client, id);
    const { id: instance, runtime_properties } = await instanceOf(world.client, id, 'host');
    expect(app).toMatchObject({ host: host.name, agent: instance, python: host.name });
    expect(beside).toMatchObject({ host: hostname(), agent: '' });
    expect(runtime_properties.cloudify_agent).toMatchObject({
      name: instance,
      queue: instance,
      ip: host.address,
      user: host.user,
      install_method: 'remote',
      network: 'default',
    });
    expect(await connectionOf(world.client, instance)).toMatchObject({
      state: 'started',
      is_connected: true,
      about: { hostname: host.name, processManagement: 'detach' },
    });
    expect(said[i]).toEqual(expect.arrayContaining(['Creating agent', `<out> made on ${host.name}`]));
    expect(said[i]!.join('\n')).not.toMatch(/PRIVATE KEY/);
    expect(JSON.stringify(runtime_properties)).not.toContain('PRIVATE KEY');
    expect((await host.exec('cat /tmp/on-host/made')).stdout).toContain('made by app_');
  }
  await Promise.all(world.hosts.map((host) => succeed(world.client, `on-${host.name}`, 'uninstall')));
  for (const [i, host] of world.hosts.entries()) expect(await leftOn(host, before[i]!)).toEqual(NOTHING);
  expect((await call(world.client, 'listAgents', {})).items).toEqual([]);
});

describe('a host with an agent', () => {
  let before: string[];
  let name: string;
  beforeAll(async () => {
    before = one.paths();
    await deployOnHost(world.client, 'kept', one, byKey(one, { max_workers: 3 }));
    await succeed(world.client, 'kept', 'install');
    name = await agentOf('kept');
  });

  test('the executor decides where an operation runs', async () => {
    const where = async (operation: string): Promise<string> => {
      const done = await probe(world.client, 'kept', operation);
      expect(done.status).toBe('terminated');
      return (await instanceOf(world.client, 'kept', 'app')).runtime_properties.where.host;
    };
    expect(await where('central')).toBe(hostname());
    expect(await where('host')).toBe(one.name);
  });

  test('all lines come, in order; a failure says where it comes from', async () => {
    const chatty = await probe(world.client, 'kept', 'chatty', { lines: 500 });
    const lines = chatty.messages.filter((message) => message.startsWith('<out> line '));
    expect(lines.join()).toBe(Array.from({ length: 500 }, (_, i) => `<out> line ${i + 1}`).join());
    const failed = await probe(world.client, 'kept', 'fails');
    expect(failed.status).toBe('failed');
    expect(failed.messages.join('\n')).toContain(`about to fail on ${one.name}`);
    expect(failed.error).toContain('17');
  });

  test('a cancel that kills ends the processes on the host within seconds', async () => {
    const id = await startSlow(world.client, 'kept');
    await eventually(async () => expect(await ledgerOf(one)).toEqual({ begun: 1, ended: 0 }), DEADLINE);
    await call(world.client, 'actOnExecution', { executionId: id }, { action: 'kill' });
    const since = performance.now();
    await eventually(
      async () =>
        expect((await one.processes()).map(({ command }) => command).join('\n')).not.toContain('slow.sh'),
      DEADLINE,
    );
    expect(performance.now() - since).toBeLessThan(10_000);
    expect((await followExecution(world.client, id)).status).toBe('cancelled');
    await one.must('rm /srv/ledger');
  });

  test('an operation goes on while the gateway, and so the whole manager, restarts', async () => {
    const id = await startSlow(world.client, 'kept');
    await eventually(async () => expect(await ledgerOf(one)).toEqual({ begun: 1, ended: 0 }), DEADLINE);
    const manager = world.fleet.processes.get('standalone')!;
    await manager.stop();
    await one.must('touch /srv/slow');
    await eventually(async () => expect(await ledgerOf(one)).toEqual({ begun: 1, ended: 1 }), DEADLINE);
    manager.start();
    await eventually(async () => {
      const { status } = await call(world.client, 'getExecution', { executionId: id });
      expect(status).toBe('terminated');
    }, DEADLINE);
    expect(await ledgerOf(one)).toEqual({ begun: 1, ended: 1 });
    await one.must('rm /srv/ledger /srv/slow');
  });

  test('validate_agents asks it; install_new_agents leaves one agent that works', async () => {
    const validated = await succeed(world.client, 'kept', 'validate_agents');
    expect(validated.messages.join('\n')).toContain('Validating agent connection.');
    const renewed = await succeed(world.client, 'kept', 'install_new_agents');
    expect(renewed.messages).toContain('New agent installed.');
    await eventually(
      async () => expect((await connectionOf(world.client, name)).is_connected).toBe(true),
      DEADLINE,
    );
    expect((await probe(world.client, 'kept', 'host')).status).toBe('terminated');
    // And one that is not there is told by name.
    await one.signal('SIGKILL', /baton-agent/);
    await eventually(
      async () => expect((await connectionOf(world.client, name)).is_connected).toBe(false),
      DEADLINE,
    );
    const failed = await follow(world.client, 'kept', 'validate_agents');
    expect(failed.status).toBe('failed');
    expect(failed.messages.join('\n')).toContain(name);
    await startByCron(one);
    await eventually(async () => {
      const { state, is_connected } = await connectionOf(world.client, name);
      expect({ state, is_connected }).toEqual({ state: 'started', is_connected: true });
    }, DEADLINE);
  });

  test('operations of a proxied host run on the agent of the other deployment', async () => {
    const proxy = { deployment: 'kept', node_instance: name, tenant: 'default_tenant' };
    await deployOnHost(world.client, 'proxied', two, byKey(two, { extra: { proxy } }));
    await succeed(world.client, 'proxied', 'install');
    expect((await outputsOf(world.client, 'proxied')).app.host).toBe(one.name);
    expect(await two.processes()).toEqual([]);
    await succeed(world.client, 'proxied', 'uninstall');
  });

  test('the uninstallation leaves nothing on the host, and no record', async () => {
    await succeed(world.client, 'kept', 'uninstall');
    expect(await leftOn(one, before)).toEqual(NOTHING);
    await expect(connectionOf(world.client, name)).rejects.toThrow(ApiError);
  });
});

/** Where the manager logs in nowhere, who has installed an agent removes it, with what its installation has left for that. */
const removedByHand = (host: Host): Promise<string> =>
  host.must('for file in /opt/baton-agent/uninstall-*.sh; do sh "$file" || exit; done');

test('init_script: the manager logs in nowhere; who runs the script on the host lets the installation go on', async () => {
  const before = two.paths();
  await deployOnHost(world.client, 'by-init', two, { install_method: 'init_script' });
  const body = { deployment_id: 'by-init', workflow_id: 'install' };
  const { id } = await call(world.client, 'startExecution', {}, body);
  const name = await eventually(async () => {
    const { runtime_properties } = await instanceOf(world.client, 'by-init', 'host');
    expect(runtime_properties.cloudify_agent?.install_script_download_link).toContain('http');
    return await agentOf('by-init');
  }, DEADLINE);
  const { script } = await call(world.client, 'enrolAgent', { name }, {});
  const ran = await two.exec('sh -s', { stdin: script, limitMs: 60_000 });
  expect(`${ran.status} ${ran.stderr}`).toMatch(/^0 /);
  expect((await followExecution(world.client, id)).status).toBe('terminated');
  expect((await outputsOf(world.client, 'by-init')).app).toMatchObject({ host: two.name, agent: name });
  // The token was used.
  const again = await three.exec('sh -s', { stdin: script, limitMs: 60_000 });
  expect(again.status).toBe(40);
  await succeed(world.client, 'by-init', 'uninstall');
  await removedByHand(two);
  expect(await leftOn(two, before)).toEqual(NOTHING);
  expect((await two.exec('id baton-agent')).status).not.toBe(0);
});

test('provided: the link in the runtime properties gives the script, once its token is unused', async () => {
  const before = three.paths();
  await deployOnHost(world.client, 'provided', three, { install_method: 'provided', user: 'guest' });
  const body = { deployment_id: 'provided', workflow_id: 'install' };
  const { id } = await call(world.client, 'startExecution', {}, body);
  const link = await eventually(async () => {
    const { runtime_properties } = await instanceOf(world.client, 'provided', 'host');
    expect(runtime_properties.cloudify_agent.install_script_download_link).toContain(world.managerAddress);
    return runtime_properties.cloudify_agent.install_script_download_link as string;
  }, DEADLINE);
  await three.must(`curl -fsS -o /srv/install.sh '${link}' && sh /srv/install.sh && rm /srv/install.sh`, {
    limitMs: 60_000,
  });
  expect((await followExecution(world.client, id)).status).toBe('terminated');
  expect((await outputsOf(world.client, 'provided')).app.host).toBe(three.name);
  expect((await three.exec(`curl -sS -o /dev/null -w '%{http_code}' '${link}'`)).stdout).toBe('404');
  await succeed(world.client, 'provided', 'uninstall');
  await removedByHand(three);
  expect(await leftOn(three, before)).toEqual(NOTHING);
});

test('ssh: no agent, a worker runs the scripts over a connection', async () => {
  const before = two.paths();
  await deployOnHost(world.client, 'by-ssh', two, byKey(two, { install_method: 'ssh' }));
  // Python functions need an agent: this blueprint has one, and the refusal says so.
  const refused = await follow(world.client, 'by-ssh', 'install');
  expect(refused.messages.join('\n')).toContain(`made on ${two.name}`);
  expect((await call(world.client, 'listAgents', {}, undefined, { deployment_id: 'by-ssh' })).items).toEqual(
    [],
  );
  const noop = await probe(world.client, 'by-ssh', 'noop');
  expect(noop.status).toBe('terminated');
  await succeed(world.client, 'by-ssh', 'uninstall', { ignore_failure: true });
  expect(await leftOn(two, before)).toEqual(NOTHING);
});

test('a host that reaches the manager only through a proxy', async () => {
  const proxy = await connectProxy(world.managerAddress, 'some:body');
  const before = two.paths();
  try {
    two.refusePort(world.place.port);
    await deployOnHost(world.client, 'proxy', two, byKey(two, { extra: { http_proxy: proxy.url } }));
    await succeed(world.client, 'proxy', 'install');
    expect(proxy.open()).toBeGreaterThan(0);
    expect((await outputsOf(world.client, 'proxy')).app.host).toBe(two.name);
    const name = await agentOf('proxy');
    const { since } = await connectionOf(world.client, name);
    proxy.cut();
    await eventually(async () => {
      const connection = await connectionOf(world.client, name);
      expect(connection.is_connected && connection.since !== since).toBe(true);
    }, DEADLINE);
    await succeed(world.client, 'proxy', 'uninstall');
    expect(await leftOn(two, before)).toEqual(NOTHING);
  } finally {
    two.heal();
    await proxy.close();
  }
});

test('an installation that cannot work says why, on the host and in the manager', async () => {
  const wrong = async (id: string, config: object): Promise<string> => {
    await deployOnHost(world.client, id, three, config);
    const done = await follow(world.client, id, 'install', { parameters: {} });
    expect(done.status).toBe('failed');
    return `${done.error} ${done.messages.join('\n')}`;
  };
  expect(await wrong('no-key', { user: 'guest' })).toMatch(/key|password/);
  expect(await wrong('wrong-user', { user: 'nobody-here', key: { get_secret: KEY_SECRET } })).toContain(
    'nobody-here',
  );
  expect(await wrong('small', byKey(three, { extra: { basedir: '/proc/baton' } }))).toMatch(/\/proc\/baton/);
});

// Upgrades of running agents: reference/agents.md 2 S14.
import { eventually } from '@baton/testkit';
import { call, followExecution, succeed } from '../harness/session';
import { startWorld, type World } from './manager';
import { byKey, connectionOf, deployOnHost, instanceOf, ledgerOf, probe, startSlow } from './on-host';
import { type AgentPackages, agentPackages } from './packages';
import type { Host } from './rig';

jest.setTimeout(240_000);
const DEADLINE = { deadlineMs: 90_000 };
const NEXT = '9.9.1';
const BROKEN = '9.9.2';

let packages: AgentPackages;
let world: World;
let host: Host;
let name: string;
beforeAll(async () => {
  packages = agentPackages();
  world = await startWorld(1, { env: { BATON_AGENT_PACKAGES: packages.folder } });
  host = world.hosts[0]!;
  await host.must('chmod 1777 /srv');
  await deployOnHost(world.client, 'kept', host, byKey(host));
  await succeed(world.client, 'kept', 'install');
  name = (await instanceOf(world.client, 'kept', 'host')).id;
});
afterAll(async () => {
  await world?.stop();
  packages?.remove();
});

/** Orders the upgrade as soon as the gateway has told of the version. */
async function order(version: string): Promise<void> {
  await eventually(async () => {
    const said = await call(world.client, 'upgradeAgents', {}, {});
    expect(said).toEqual({ number_of_agents: 1, version });
  }, DEADLINE);
}

test('the operation at work goes on and ends in the old version; then the new one goes on', async () => {
  expect((await connectionOf(world.client, name)).version).toBe(packages.version);
  const id = await startSlow(world.client, 'kept');
  await eventually(async () => expect(await ledgerOf(host)).toEqual({ begun: 1, ended: 0 }), DEADLINE);
  packages.offer(NEXT);
  await order(NEXT);
  await eventually(
    () => host.must(`test -x /opt/baton-agent/${name}/versions/${NEXT}/baton-agent`),
    DEADLINE,
  );
  expect(await ledgerOf(host)).toEqual({ begun: 1, ended: 0 });
  expect(await connectionOf(world.client, name)).toMatchObject({
    version: packages.version,
    is_connected: true,
  });
  await host.must('touch /srv/slow');
  expect((await followExecution(world.client, id)).status).toBe('terminated');
  expect(await ledgerOf(host)).toEqual({ begun: 1, ended: 1 });
  await eventually(
    async () =>
      expect(await connectionOf(world.client, name)).toMatchObject({
        version: NEXT,
        is_connected: true,
        about: { upgrade: { version: NEXT, state: 'done' } },
      }),
    DEADLINE,
  );
  expect((await probe(world.client, 'kept', 'host')).status).toBe('terminated');
});

test('a version that never reaches the manager is undone, and the manager is told why', async () => {
  packages.offer(BROKEN, { hasNoStream: true });
  await order(BROKEN);
  await eventually(
    async () =>
      expect(await connectionOf(world.client, name)).toMatchObject({
        version: NEXT,
        is_connected: true,
        about: {
          upgrade: { version: BROKEN, state: 'undone', reason: expect.stringContaining('no stream') },
        },
      }),
    DEADLINE,
  );
  expect((await probe(world.client, 'kept', 'host')).status).toBe('terminated');
});

import { type AgentAbout, agentsRpc } from '@baton/contracts';
import { setFakeNow } from '@baton/testkit';
import { aboutJson, admit, enrolHost, type TestHost } from './testing/agent-hosts';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
const hosts: TestHost[] = [];
const epochs = new Map<string, number>();
let clockMs = 0;
const OLD = '1.0.0';

const pass = async (ms: number) => {
  clockMs += ms;
  await setFakeNow(test.db.pool, new Date(clockMs).toISOString());
};

beforeAll(async () => {
  test = await startTestDeployments();
  for (let i = 0; i < 12; i++) {
    const id = `d${String(i).padStart(2, '0')}`;
    await test.create(id);
    const { items } = (await test.call('GET', `/node-instances?deployment_id=${id}`)).body;
    const host = await enrolHost(test, id, items[0].id);
    hosts.push(host);
    if (i > 0) epochs.set(host.name, await admit(test, host));
  }
  clockMs = Date.now();
  await pass(0);
});
afterAll(() => test.stop());

const serve = (version: string) => ({
  platform: 'linux-x64',
  version,
  sha256: 'a'.repeat(64),
  size: 28_000_000,
});
/** Reports these agents as connected; returns the names of those that are told to change, and their packages. */
async function report(
  changes: Record<string, Partial<AgentAbout>> = {},
  packages: agentsRpc.AgentPackage[] = [],
): Promise<Record<string, { version: string }>> {
  const agents = hosts
    .filter(({ name }) => epochs.has(name))
    .map(({ id, name }) => ({
      agentId: id,
      epoch: epochs.get(name)!,
      silentMs: 0,
      aboutJson: changes[name] ? aboutJson(changes[name]) : '',
    }));
  const { orders } = await test.agents.reportAgents({ gatewayId: 'gateway-1', agents, gone: [], packages });
  return Object.fromEntries(
    orders
      .filter(({ kind }) => kind === agentsRpc.AgentOrderKind.AGENT_ORDER_KIND_UPGRADE)
      .map(({ agentId, detailJson }) => [
        hosts.find(({ id }) => id === agentId)!.name,
        JSON.parse(detailJson),
      ]),
  );
}
const drive = () => test.parts.loops!.find(({ name }) => name === 'drive-agent-upgrades')!.tickOnce();
const start = (names: string[] = []) => test.call('POST', '/agent-upgrades', { names });
const connection = async (name: string) => (await test.call('GET', `/agent-connections/${name}`)).body;
const upgrade = async () => (await test.db.pool.query('select * from agent_upgrades')).rows[0];

it('needs packages, and names that there are', async () => {
  expect(await start()).toMatchObject({ status: 400, body: { error_code: 'illegal_action_error' } });
  await report({}, [serve(OLD)]);
  expect((await start()).body).toEqual({ number_of_agents: 0, version: OLD });
  expect(await start(['nosuch'])).toMatchObject({ status: 404, body: { error_code: 'not_found_error' } });
});

it('changes a tenth at a time, and the next when all of them have done it', async () => {
  await pass(1_000);
  await report({}, [serve('2.0.0')]);
  expect((await start()).body).toEqual({ number_of_agents: 12, version: '2.0.0' });
  expect(await report()).toEqual({});
  const told = new Set<string>();
  for (let batch = 0; batch < 5; batch++) {
    await Promise.all([drive(), drive()]);
    const orders = await report();
    // 12 agents: two at a time; the last batch has one, because one agent is not connected.
    expect(Object.keys(orders)).toHaveLength(2);
    for (const [name, sent] of Object.entries(orders)) {
      expect(sent).toEqual(serve('2.0.0'));
      expect((await connection(name)).state).toBe('upgrading');
      told.add(name);
    }
    // One of them has done it: the others wait. The order is not repeated each second.
    const [first, second] = Object.keys(orders) as [string, string];
    await report({ [first]: { version: '2.0.0' } });
    await drive();
    expect(await report()).toEqual({});
    await report({ [second]: { version: '2.0.0' } });
  }
  await drive();
  const [last] = Object.keys(await report()) as [string];
  await report({ [last]: { version: '2.0.0' } });
  await drive();
  expect(told.has(hosts[0]!.name)).toBe(false);
  expect(await connection(last)).toMatchObject({ version: '2.0.0', wanted_version: null, state: 'started' });
  // The agent that was not connected is told when it comes.
  expect(await upgrade()).toMatchObject({ state: 'running', version: '2.0.0' });
  epochs.set(hosts[0]!.name, await admit(test, hosts[0]!));
  await drive();
  expect(Object.keys(await report())).toEqual([hosts[0]!.name]);
  await report({ [hosts[0]!.name]: { version: '2.0.0' } });
  await drive();
  expect(await upgrade()).toMatchObject({ state: 'done', reason: null });
});

it('stops at the first agent that goes back', async () => {
  await pass(1_000);
  await report({}, [serve('3.0.0')]);
  await start();
  await drive();
  const [name] = Object.keys(await report()) as [string];
  await pass(10_000);
  const undone = { version: '3.0.0', state: 'undone' as const, reason: 'no stream within 60 s' };
  await report({ [name]: { version: '2.0.0', upgrade: undone } });
  await drive();
  expect(await upgrade()).toMatchObject({ state: 'stopped', reason: `${name}: no stream within 60 s` });
  await drive();
  expect(await report()).toEqual({});
  expect(await connection(name)).toMatchObject({ wanted_version: null, state: 'started' });
  // An old failure does not stop a new try.
  await start([name]);
  await drive();
  await pass(10_000);
  expect(Object.keys(await report())).toEqual([name]);
  await drive();
  expect((await upgrade()).state).toBe('running');
});

it('stops when an agent does not answer in half an hour', async () => {
  await pass(31 * 60_000);
  await drive();
  expect(await upgrade()).toMatchObject({ state: 'stopped' });
  expect((await upgrade()).reason).toContain('has not answered in time');
});

import { createHash } from 'node:crypto';
import { agentsRpc } from '@baton/contracts';
import { setFakeNow } from '@baton/testkit';
import { aboutJson, aboutOf, admit, enrolHost, type TestHost } from './testing/agent-hosts';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
let host: TestHost;
let clockMs: number;
const made: string[] = [];
let digest: string;

beforeAll(async () => {
  test = await startTestDeployments();
});
afterAll(() => test.stop());

/** A new deployment with one host, enrolled. */
/** Addresses of the agents by name. */
const addresses = new Map<string, string>();

async function newHost(name: string): Promise<TestHost> {
  await test.create(name);
  const { items } = (await test.call('GET', `/node-instances?deployment_id=${name}`)).body;
  made.push(name);
  addresses.set(name, `default_tenant/${items[0].id}`);
  return await enrolHost(test, name, items[0].id);
}

beforeEach(async () => {
  await setFakeNow(test.db.pool, null);
  host = await newHost(`h${made.length}`);
  digest = createHash('sha256').update(host.authorities).digest('hex');
  clockMs = Date.now();
  await setFakeNow(test.db.pool, new Date(clockMs).toISOString());
});

const pass = async (ms: number) => {
  clockMs += ms;
  await setFakeNow(test.db.pool, new Date(clockMs).toISOString());
};
const connected = (epoch: number, change: Partial<agentsRpc.ConnectedAgent> = {}) => ({
  agentId: host.id,
  epoch,
  silentMs: 0,
  aboutJson: '',
  ...change,
});
const report = (
  agents: agentsRpc.ConnectedAgent[],
  change: Partial<agentsRpc.ReportAgentsRequest> = {},
): Promise<agentsRpc.ReportAgentsResponse> =>
  test.agents.reportAgents({ gatewayId: 'gateway-1', agents, gone: [], packages: [], ...change });
const { AgentOrderKind: Kind } = agentsRpc;
const cutsOf = ({ orders }: agentsRpc.ReportAgentsResponse) =>
  orders
    .filter(({ kind }) => kind === Kind.AGENT_ORDER_KIND_CUT)
    .map(({ agentId, detailJson }) => [agentId, JSON.parse(detailJson).reason]);
const connection = async (name = host.name) => (await test.call('GET', `/agent-connections/${name}`)).body;
const markSilent = () => test.parts.loops!.find(({ name }) => name === 'mark-silent-agents')!.tickOnce();

it('shows a stream from its beginning to its end', async () => {
  expect(await connection()).toMatchObject({
    is_connected: false,
    last_seen: null,
    certificate: { serial: host.serial, revoked_at: null },
    wanted_version: null,
  });
  const epoch = await admit(test, host);
  expect(await connection()).toMatchObject({
    name: host.name,
    deployment_id: host.name,
    tenant_name: 'default_tenant',
    is_connected: true,
    since: new Date(clockMs).toISOString(),
    version: '1.0.0',
    about: { hostname: 'host' },
  });
  await pass(20_000);
  const about = aboutJson({ authoritiesDigest: digest, running: 3 });
  expect((await report([connected(epoch, { silentMs: 1_000, aboutJson: about })])).orders).toEqual([]);
  expect(await connection()).toMatchObject({
    last_seen: new Date(clockMs - 1_000).toISOString(),
    about: { running: 3 },
  });
  await pass(1_000);
  await report([], { gone: [connected(epoch)] });
  expect(await connection()).toMatchObject({
    is_connected: false,
    since: new Date(clockMs).toISOString(),
    state: 'started',
  });
});

it('an agent is nonresponsive after 45 s of silence, and started at the next sign of life', async () => {
  const epoch = await admit(test, host);
  for (const [silentMs, state] of [
    [44_000, 'started'],
    [45_000, 'nonresponsive'],
    [80_000, 'nonresponsive'],
    [0, 'started'],
  ] as const) {
    await pass(50_000);
    await report([connected(epoch, { silentMs })]);
    expect([silentMs, (await connection()).state]).toEqual([silentMs, state]);
  }
});

it('an agent whose stream ended, or whose gateway died, is nonresponsive after 45 s', async () => {
  const other = await newHost(`h${made.length}`);
  const epoch = await admit(test, host);
  await admit(test, other, 'gateway-2');
  await report([], { gone: [connected(epoch)] });
  await pass(44_000);
  await markSilent();
  expect([(await connection()).state, (await connection(other.name)).is_connected]).toEqual([
    'started',
    true,
  ]);
  await pass(2_000);
  await Promise.all([markSilent(), markSilent()]);
  expect(await connection()).toMatchObject({ state: 'nonresponsive', is_connected: false });
  expect(await connection(other.name)).toMatchObject({ state: 'nonresponsive', is_connected: false });
  // The gateway was only cut off: its next report brings the agent back.
  await test.agents.reportAgents({
    gatewayId: 'gateway-2',
    agents: [{ agentId: other.id, epoch: (await epochOf(other.name)) as number, silentMs: 0, aboutJson: '' }],
    gone: [],
    packages: [],
  });
  expect(await connection(other.name)).toMatchObject({ state: 'started', is_connected: true });
  await admit(test, host);
  expect(await connection()).toMatchObject({ state: 'started', is_connected: true });
});

const epochOf = async (name: string) =>
  (await test.db.pool.query('select epoch from agents where name = $1', [name])).rows[0].epoch;

it('of two streams of one agent at two gateways the older one is cut', async () => {
  const first = await admit(test, host, 'gateway-1');
  const second = await admit(test, host, 'gateway-2');
  expect(second).toBeGreaterThan(first);
  expect(cutsOf(await report([connected(first)]))).toEqual([[host.id, 'connected_elsewhere']]);
  const there = { gatewayId: 'gateway-2' };
  expect(cutsOf(await report([connected(second)], there))).toEqual([]);
  // The late end of the older stream does not end the newer one.
  await report([], { gone: [connected(first)] });
  expect((await connection()).is_connected).toBe(true);
});

it('cuts who is revoked or deleted, whose instance or tenant is gone, and who was never there', async () => {
  const hosts = [
    host,
    await newHost(`h${made.length}`),
    await newHost(`h${made.length}`),
    await newHost(`h${made.length}`),
  ];
  const [revoked, deleted, uninstalled, removed] = hosts as [TestHost, TestHost, TestHost, TestHost];
  const epochs = await Promise.all(hosts.map((one) => admit(test, one)));
  const all = hosts.map(({ id }, at) => connected(epochs[at]!, { agentId: id }));
  expect(cutsOf(await report(all))).toEqual([]);
  await test.db.pool.query('delete from outbox');
  // Only the first revocation is told: a new agent may have the address later.
  for (let i = 0; i < 2; i++) await test.call('POST', `/agents/${revoked.name}/revoke`);
  await test.call('DELETE', `/agents/${deleted.name}`);
  expect(await toldRevoked()).toEqual([revoked, deleted].map(({ name }) => addresses.get(name)));
  await test.call('DELETE', `/deployments/${uninstalled.name}?force=true`);
  await test.db.pool.query(`delete from deployments.deployments where id = $1`, [uninstalled.name]);
  await test.db.pool.query(`update agents set tenant = tenant where name = $1`, [removed.name]);
  const strange = [
    connected(1, { agentId: '00000000-0000-0000-0000-000000000000' }),
    connected(1, { agentId: `x'; drop table agents --` }),
  ];
  const cuts = cutsOf(await report([...all, ...strange]));
  expect(cuts.sort()).toEqual(
    [
      [revoked.id, 'revoked'],
      [deleted.id, 'deleted'],
      [uninstalled.id, 'deleted'],
      [strange[0]!.agentId, 'deleted'],
      [strange[1]!.agentId, 'deleted'],
    ].sort(),
  );
  // The end of the stream of a revoked agent is noted like any other.
  await report([], { gone: [all[0]!] });
  expect((await connection()).is_connected).toBe(false);
  await test.db.pool.query(`insert into baton.closed_tenants values ('deployments', 'default_tenant')`);
  try {
    expect(cutsOf(await report([all[3]!]))).toEqual([[removed.id, 'tenant_removed']]);
  } finally {
    await test.db.pool.query('delete from baton.closed_tenants');
  }
});

/** Addresses of the agents of whose revocation executions is told, in order. */
async function toldRevoked(): Promise<string[]> {
  const { rows } = await test.db.pool.query(
    `select envelope->'payload'->>'agent' as agent from outbox
     where envelope->>'type' = 'deployments.agent-revoked.v1' order by created_at, id`,
  );
  return rows.map(({ agent }) => agent);
}

it('one hostile agent does not spoil the report of the others', async () => {
  const other = await newHost(`h${made.length}`);
  const [mine, theirs] = [await admit(test, host), await admit(test, other)];
  await pass(20_000);
  const hostile = [
    JSON.stringify({ ...aboutOf(), hostname: 'x'.repeat(10_000_000) }),
    JSON.stringify({ ...aboutOf(), hostname: '\u0000' }),
    aboutJson().replace('"host"', '"\\ud800"'),
    '[[[[',
    aboutJson().replace('"slots":5', '"slots":1e999'),
  ];
  for (const text of hostile) {
    await pass(11_000);
    await report([
      connected(mine, { aboutJson: text, silentMs: -5 }),
      connected(theirs, { agentId: other.id }),
    ]);
    expect((await connection(other.name)).last_seen).toBe(new Date(clockMs).toISOString());
  }
  expect(await connection()).toMatchObject({ is_connected: true, about: { slots: 5 } });
});

it('tells the authorities to agents that trust others, not each second, and until they have renewed', async () => {
  const trustOf = ({ orders }: agentsRpc.ReportAgentsResponse) =>
    orders
      .filter(({ kind }) => kind === Kind.AGENT_ORDER_KIND_TRUST)
      .map(({ detailJson }) => JSON.parse(detailJson));
  const epoch = await admit(test, host);
  const good = connected(epoch, { aboutJson: aboutJson({ authoritiesDigest: digest }) });
  await pass(31_000);
  expect(trustOf(await report([good]))).toEqual([]);
  const before = (await report([connected(epoch)])).listenerDigest;
  await test.call('PATCH', '/agents', { bundle: true });
  const told = await report([connected(epoch)]);
  expect(told.listenerDigest).not.toBe(before);
  const [order] = trustOf(told);
  expect(order).toMatchObject({ renew: true });
  expect(order.authorities.startsWith(host.authorities)).toBe(true);
  expect(order.authorities.length).toBeGreaterThan(host.authorities.length);
  expect(trustOf(await report([connected(epoch)]))).toEqual([]);
  const now = createHash('sha256').update(order.authorities).digest('hex');
  await pass(31_000);
  const trusting = connected(epoch, { aboutJson: aboutJson({ authoritiesDigest: now }) });
  // It trusts them, but its certificate is of the former one.
  expect(trustOf(await report([trusting]))).toMatchObject([{ renew: true }]);
});

it('tells settings that have changed', async () => {
  const epoch = await admit(test, host);
  await pass(60_000);
  const good = connected(epoch, { aboutJson: aboutJson({ authoritiesDigest: digest }) });
  expect((await report([good])).orders).toEqual([]);
  const options = { max_workers: 9, env: { A: 1 }, extra: { log_level: 'DEBUG' } };
  const enrol = (more: object = {}) =>
    test.call('POST', `/agents/${host.name}/enrolment`, { options: { ...options, ...more } });
  expect(await enrol({ env: { 'B B': 'x' } })).toMatchObject({
    status: 400,
    body: { error_code: 'bad_parameters_error' },
  });
  await enrol();
  const { orders } = await report([connected(epoch)]);
  expect(orders.map(({ kind }) => kind)).toEqual([Kind.AGENT_ORDER_KIND_SETTINGS]);
  expect(JSON.parse(orders[0]!.detailJson)).toMatchObject({
    maxWorkers: 9,
    env: { A: '1' },
    logLevel: 'debug',
    executableTempPath: null,
  });
  await pass(11_000);
  expect((await report([connected(epoch)])).orders).toEqual([]);
});

it('needs one statement for any number of agents', async () => {
  const epoch = await admit(test, host);
  await report([connected(epoch)]);
  const many = Array.from({ length: 500 }, (_, i) =>
    connected(1, { agentId: `00000000-0000-0000-0000-${String(i).padStart(12, '0')}` }),
  );
  const before = test.statements();
  expect(cutsOf(await report([connected(epoch), ...many]))).toHaveLength(500);
  // With begin and commit.
  expect(test.statements() - before).toBe(3);
});

it('refuses reports without bounds', async () => {
  const code = (asked: Promise<unknown>) =>
    asked.then(
      () => 'fine',
      (error: { code: string }) => error.code,
    );
  const many = Array.from({ length: 20_001 }, () => connected(1));
  expect(await code(report(many))).toBe('bad_parameters_error');
  expect(await code(report([], { gatewayId: '' }))).toBe('bad_parameters_error');
  const good = { platform: 'linux-x64', version: '1.0.0', sha256: 'a'.repeat(64), size: 5 };
  for (const bad of [{ platform: '../x' }, { version: '$(reboot)' }, { sha256: 'abc' }, { size: 0 }])
    expect(await code(report([], { packages: [{ ...good, ...bad }] }))).toBe('bad_parameters_error');
});

it.each([
  ['is_connected=true', 'name'],
  ['_search=h1', 'name'],
  ['_sort=-last_seen&_include=name,certificate,about', 'name'],
  ['state=started&tenant_name=default_tenant', 'name'],
])('lists connections by %s', async (query, field) => {
  await admit(test, host);
  const { status, body } = await test.call('GET', `/agent-connections?${query}`);
  expect(status).toBe(200);
  expect(body.items.length).toBeGreaterThan(0);
  expect(body.items[0]).toHaveProperty(field);
});

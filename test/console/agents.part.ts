/**
 * Agents in a real browser. Connected agents need hosts, so answers about connections are made up at the border of the browser, in
 * the form of their contract; test/hosts has real ones.
 */
import type { Schemas } from '@baton/client';
import { agentsRoutes } from '@baton/contracts/http/agents';
import type { Request, Route } from 'playwright-core';
import { call } from '../harness/session';
import { judge } from './judge';
import { type Stage, VIEWER } from './stage';

type Connection = Schemas['AgentConnection'];

const DAY_MS = 86_400_000;
/** Instant this many days from now; a negative number is the past. */
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

const ABOUT = {
  protocol: 1,
  version: '1.4.0',
  platform: 'linux-x64',
  hostname: 'web-0.lab',
  system: 'Debian GNU/Linux 12 (bookworm)',
  processManagement: 'systemd',
  startedAt: inDays(-12),
  slots: 5,
  running: 2,
  waitingLines: 0,
  droppedLines: 0,
  authoritiesDigest: 'ab'.repeat(32),
  certificateUntil: inDays(18),
  upgrade: null,
};

const connection = (name: string, more: Partial<Connection> = {}): Connection => ({
  name,
  node_instance_id: name,
  deployment_id: 'web-shop',
  tenant_name: 'default_tenant',
  state: 'started',
  install_method: 'remote',
  is_connected: true,
  since: inDays(-12),
  last_seen: inDays(0),
  certificate: { serial: '5f3a9c01', expires_at: inDays(18), revoked_at: null },
  version: '1.4.0',
  wanted_version: null,
  about: ABOUT,
  ...more,
});

const REASON = 'no stream within 60 s: the new version trusts no authority of the manager <b>!</b>';
/** One of each state that somebody has to tell from the others. */
const AGENTS: Connection[] = [
  connection('web_host_1'),
  connection('web_host_2', {
    state: 'upgrading',
    wanted_version: '1.5.0',
    about: { ...ABOUT, running: 5, waitingLines: 1_204 },
  }),
  connection('web_host_3', {
    state: 'nonresponsive',
    is_connected: false,
    since: inDays(-0.1),
    last_seen: inDays(-0.1),
    certificate: { serial: '77aa', expires_at: inDays(4.5), revoked_at: null },
    about: {
      ...ABOUT,
      running: 0,
      droppedLines: 310,
      upgrade: { version: '1.5.0', state: 'undone', reason: REASON },
    },
  }),
  connection('db_host_1', {
    deployment_id: 'intranet',
    install_method: 'init_script',
    certificate: { serial: '0c', expires_at: inDays(20), revoked_at: inDays(-1) },
    is_connected: false,
  }),
  connection('db_host_2', {
    deployment_id: 'intranet',
    install_method: 'provided',
    state: 'created',
    is_connected: false,
    since: null,
    last_seen: null,
    certificate: null,
    version: null,
    about: null,
  }),
];
const TOKEN = 'one-time-token-that-is-shown-once';
const ENROLMENT: Schemas['AgentEnrolment'] = {
  name: 'db_host_2',
  token: TOKEN,
  expires_at: inDays(1 / 24),
  addresses: ['https://manager.lab'],
  authorities: '-----BEGIN CERTIFICATE-----\n',
  script: `#!/bin/sh\n# Installs the agent db_host_2.\ntoken='${TOKEN}'\n`,
  script_url: `https://manager.lab/agent/v1/install/${TOKEN}`,
};

interface Asked {
  method: string;
  path: string;
  body: unknown;
}

const routeOf = (id: string) => agentsRoutes.find((route) => route.id === id)!;

export function agentsPart(shared: () => Stage): void {
  let stage: Stage;
  let { page, go, dialog, press, send, isClosed } = {} as Stage;
  /** What the page would have changed. */
  const asked: Asked[] = [];
  let shown: Connection[] = AGENTS;

  const answer = async (route: Route, request: Request): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url());
    const path = pathname.replace('/api/v3.1', '');
    const json = (body: unknown): Promise<void> => route.fulfill({ json: body });
    if (request.method() !== 'GET') {
      asked.push({ method: request.method(), path, body: request.postDataJSON() });
      if (path.endsWith('/enrolment')) return await json(ENROLMENT);
      if (path === '/agent-upgrades') return await json({ number_of_agents: 2, version: '1.5.0' });
      if (path === '/executions') return await json({ id: 'e1', status: 'pending' });
      return await json({ name: 'db_host_2' });
    }
    const name = path.split('/')[2];
    const one = shown.find((agent) => agent.name === name);
    if (path.startsWith('/agents/'))
      return await json({ ip: '10.0.0.7', system: 'debian', node: 'web_host', created_at: inDays(-12) });
    if (name) return await json(one);
    const items = shown.filter((agent) =>
      ['state', 'install_method', 'deployment_id', 'is_connected'].every(
        (field) =>
          !searchParams.has(field) ||
          searchParams.getAll(field).includes(String(agent[field as keyof Connection])),
      ),
    );
    return await json({ items, metadata: { pagination: { total: items.length, offset: 0, size: 50 } } });
  };

  beforeAll(async () => {
    stage = shared();
    ({ page, go, dialog, press, send, isClosed } = stage);
    await page.route(/\/api\/v3\.1\/agent(s|-connections|-upgrades)(\/|\?|$)/, answer);
    await page.route(/\/api\/v3\.1\/executions$/, (route, request) =>
      request.method() === 'POST' ? answer(route, request) : route.continue(),
    );
  });
  beforeEach(() => {
    asked.splice(0);
    shown = AGENTS;
  });
  afterEach(async () => {
    expect(await stage.offences()).toEqual([]);
  });
  afterAll(async () => {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('made up answers fit the contract', () => {
    for (const agent of AGENTS) expect(routeOf('getAgentConnection').response!.parse(agent)).toEqual(agent);
    expect(routeOf('enrolAgent').response!.parse(ENROLMENT)).toEqual(ENROLMENT);
  });

  test('a tenant without agents says how one comes to be', async () => {
    shown = [];
    await go('/admin/agents');
    await page.getByText('No agents in this tenant').waitFor();
    await page.getByText('cloudify.nodes.Compute', { exact: false }).waitFor();
    await judge(page, 'agents-empty');
  });

  test('the list tells states, certificates that end, lost lines and upgrades that were undone', async () => {
    await go('/admin/agents');
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('web_host_1').getByText('Connected', { exact: true }).last().waitFor();
    await row('web_host_2').getByText('1.4.0 → 1.5.0').waitFor();
    await row('web_host_2').getByText('1,204 lines wait').waitFor();
    await row('web_host_3').getByText('ends in 4 d').last().waitFor();
    await row('web_host_3').getByText('upgrade undone').waitFor();
    await row('db_host_1').getByText('Revoked', { exact: true }).last().waitFor();
    await row('db_host_2').getByText('Waiting to connect').last().waitFor();
    await judge(page, 'agents');
  });

  test('the list is read again by itself', async () => {
    shown = [connection('web_host_1')];
    await go('/admin/agents');
    const row = page.getByRole('row').filter({ hasText: 'web_host_1' });
    await row.getByText('Connected', { exact: true }).last().waitFor();
    shown = [connection('web_host_1', { state: 'nonresponsive', is_connected: false })];
    await row.getByText('Not responding').last().waitFor();
  });

  test('long texts of a host break no screen', async () => {
    const long = (letter: string) => letter.repeat(200);
    const about = { ...ABOUT, hostname: long('h'), system: long('s'), version: long('v') };
    shown = [connection(long('n'), { deployment_id: long('d'), version: long('v'), about })];
    await go('/admin/agents');
    await page.getByRole('link', { name: long('n') }).waitFor();
    await judge(page, 'agents-long');
    await page.getByRole('link', { name: long('n') }).click();
    await page.getByText(long('h')).waitFor();
    await judge(page, 'agent-long');
  });

  test('filters are in the address, and survive a reload', async () => {
    await go('/admin/agents');
    await page.getByLabel('Installed by').selectOption('init_script');
    await page.waitForURL(/install_method=init_script/);
    await page.getByText('1 agent', { exact: true }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'db_host_1' }).waitFor();
    expect(await page.getByRole('link', { name: 'web_host_1' }).count()).toBe(0);
    await page.getByLabel('State', { exact: true }).selectOption('failed');
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'Clear all filters' }).first().click();
    await page.getByLabel('Deployment, exact id').fill('web-shop');
    await page.getByText('3 agents', { exact: true }).waitFor();
    await page.waitForURL(/deployment_id=web-shop/);
  });

  test('selected agents are validated by one execution for each deployment', async () => {
    await go('/admin/agents');
    for (const name of ['web_host_1', 'web_host_3', 'db_host_2'])
      await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    await press('Validate');
    await dialog().getByText('Validate the agents of 3 hosts?').waitFor();
    await judge(page, 'agents-validate');
    await send('Validate');
    await dialog().getByRole('link', { name: 'intranet' }).waitFor();
    expect(asked.map(({ body }) => body)).toEqual([
      {
        deployment_id: 'web-shop',
        workflow_id: 'validate_agents',
        parameters: { node_instance_ids: ['web_host_1', 'web_host_3'] },
        queue: true,
      },
      expect.objectContaining({
        deployment_id: 'intranet',
        parameters: { node_instance_ids: ['db_host_2'] },
      }),
    ]);
    await page.keyboard.press('Escape');
    await isClosed();
    await page.getByText('3 agents selected').waitFor({ state: 'detached' });
  });

  test('all agents are upgraded only by who has typed the name of the tenant', async () => {
    await go('/admin/agents');
    await press('Upgrade all');
    expect(await dialog().getByRole('button', { name: 'Upgrade', exact: true }).isDisabled()).toBe(true);
    await dialog().getByLabel('Type this to confirm:').fill('default_tenant');
    await judge(page, 'agents-upgrade');
    await send('Upgrade');
    await dialog().getByText('2 agents will change to version 1.5.0.').waitFor();
    expect(asked).toEqual([{ method: 'POST', path: '/agent-upgrades', body: { names: [] } }]);
    await page.keyboard.press('Escape');
    await isClosed();
  });

  test('one agent says what is wrong with it; what it says of itself is shown as text', async () => {
    await go('/admin/agents/web_host_3');
    await page.getByText('The host has been silent for more than 45 s.').waitFor();
    await page.getByText('The certificate ends soon.').waitFor();
    await page.getByText('The upgrade to 1.5.0 was undone.').waitFor();
    await page.getByText(REASON).waitFor();
    await page.getByText('310 log lines did not fit').waitFor();
    await page.getByText('10.0.0.7').waitFor();
    await judge(page, 'agent');
    await go('/admin/agents/db_host_2');
    await page.getByText('It has told nothing about itself yet.').waitFor();
    expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0);
  });

  test('an agent is revoked after its name was typed', async () => {
    await go('/admin/agents/web_host_1');
    await press('Revoke');
    expect(await dialog().getByRole('button', { name: 'Revoke', exact: true }).isDisabled()).toBe(true);
    await dialog().getByLabel('Type this to confirm:').fill('web_host_1');
    await judge(page, 'agent-revoke');
    await send('Revoke');
    await isClosed();
    expect(asked).toEqual([{ method: 'POST', path: '/agents/web_host_1/revoke', body: null }]);
  });

  test('a new agent is installed on the host of an agent', async () => {
    await go('/admin/agents/web_host_1');
    await press('Install a new agent');
    await judge(page, 'agent-install');
    await send('Install');
    await dialog().getByRole('link', { name: 'web-shop' }).waitFor();
    expect(asked[0]!.body).toMatchObject({
      workflow_id: 'install_new_agents',
      parameters: { node_instance_ids: ['web_host_1'] },
    });
  });

  test('an install script is shown once, and its token stays nowhere', async () => {
    await go('/admin/agents/db_host_2');
    await press('Install script');
    await judge(page, 'agent-script-form');
    await dialog().getByLabel('Network').fill('dmz');
    await send('Make the script');
    await dialog().getByText(`curl -fsSL '${ENROLMENT.script_url}' | sudo sh`).waitFor();
    await dialog().getByText('Show the script').click();
    await dialog().getByText('# Installs the agent db_host_2.').waitFor();
    await judge(page, 'agent-script');
    expect(asked[0]).toEqual({
      method: 'POST',
      path: '/agents/db_host_2/enrolment',
      body: { network: 'dmz' },
    });
    await send('I have copied it');
    await isClosed();
    expect(await page.content()).not.toContain(TOKEN);
    expect(page.url()).not.toContain(TOKEN);
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(
      TOKEN,
    );
  });

  test('a deployment shows its agents, and a host its own', async () => {
    const { items } = await call(stage.client, 'listNodeInstances', {}, undefined, {
      deployment_id: 'web-shop',
    });
    shown = [connection('greeter_agent', { node_instance_id: items[0]!.id, is_connected: false })];
    await go('/deployments/web-shop/nodes');
    await page.getByRole('button', { name: items[0]!.node_id }).click();
    await page.getByRole('link', { name: 'greeter_agent' }).waitFor();
    await page.getByText('1 not connected').waitFor();
    await judge(page, 'deployment-agents');
    await page.getByRole('link', { name: '1 agent' }).click();
    await page.waitForURL(/admin\/agents\?deployment_id=web-shop/);
  });

  test('who may only read sees agents, and no action', async () => {
    const viewer = await stage.openAs(VIEWER, '/secrets');
    await viewer.route(/\/api\/v3\.1\/agent(s|-connections)(\/|\?|$)/, answer);
    await viewer.goto(`${stage.fleet.baseUrl}/ui/default_tenant/admin/agents`);
    await viewer.getByRole('link', { name: 'web_host_1' }).waitFor();
    expect(await viewer.getByRole('checkbox').count()).toBe(0);
    expect(await viewer.getByRole('button', { name: 'Upgrade all' }).count()).toBe(0);
    await viewer.getByRole('link', { name: 'web_host_1' }).click();
    await viewer.getByText('web-0.lab').waitFor();
    for (const name of ['Validate', 'Install script', 'Revoke', 'Delete'])
      expect(await viewer.getByRole('button', { name }).count()).toBe(0);
  });

  test('by keyboard: a row opens, and its actions are commands', async () => {
    await go('/admin/agents');
    await page.getByRole('link', { name: 'db_host_1' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/admin\/agents\/(db|web)_host_\d$/);
    await page.getByRole('button', { name: 'Validate' }).waitFor();
  });
}

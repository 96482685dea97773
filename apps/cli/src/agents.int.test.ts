// What `baton agents` sends and prints. A manager of these tests answers as it is told; test/cli asks a real one.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from './run';
import { quietIo } from './testing-io';

interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  tenant: string | undefined;
  body: unknown;
}

let server: Server;
let folder: string;
const asked: Asked[] = [];
/** Status with which the executions of a deployment end; 'refused': the start is. */
let ends: Record<string, string> = {};

const agent = (id: string, deployment: string, tenant_name = 'default_tenant') => ({
  id,
  deployment,
  tenant_name,
  node: 'vm',
  state: 'started',
});
let agents = [agent('vm_1', 'web'), agent('vm_2', 'web'), agent('vm_3', 'db')];
const SCRIPT = "#!/bin/sh\ntoken='secret-token'\n";
const ENROLMENT = {
  name: 'vm_1',
  token: 'secret-token',
  expires_at: '2026-11-27T09:00:00.000Z',
  script: SCRIPT,
  script_url: 'https://lab/agent/v1/install/abc',
};
const CONNECTION = {
  name: 'vm_1',
  state: 'started',
  is_connected: true,
  certificate: { serial: '0a', expires_at: '2026-12-27T09:00:00.000Z', revoked_at: null },
  about: {
    hostname: 'web-0',
    slots: 5,
    running: 2,
    droppedLines: 3,
    upgrade: { state: 'undone', reason: 'no stream' },
  },
};

function answerTo({ method, path, body }: Asked): [number, unknown] {
  const page = (items: object[]) => ({
    items,
    metadata: { pagination: { total: items.length, offset: 0, size: 1000 } },
  });
  if (method === 'GET' && path === '/agents') return [200, page(agents)];
  if (path === '/agents/vm_1') return [200, { ...agent('vm_1', 'web'), ip: '10.0.0.7' }];
  if (path === '/agent-connections/vm_1') return [200, CONNECTION];
  if (path.endsWith('/enrolment')) return [200, ENROLMENT];
  if (path === '/agent-upgrades') return [200, { number_of_agents: 2, version: '1.5.0' }];
  if (method === 'PATCH' && path === '/agents') return [200, { number_of_updated_agents: 1 }];
  const { deployment_id: id } = body as { deployment_id: string };
  if (ends[id] === 'refused')
    return [400, { message: 'not now', error_code: 'existing_running_execution_error' }];
  return [201, { id: `e-${id}`, status: 'pending' }];
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-agents-'));
  server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const url = new URL(request.url!, 'http://x');
    const path = url.pathname.replace('/api/v3.1', '');
    const one = {
      method: request.method!,
      path,
      query: url.searchParams,
      tenant: request.headers.tenant as string | undefined,
      body: text ? JSON.parse(text) : null,
    };
    if (path === '/events/stream') {
      const status = ends[url.searchParams.get('execution_id')!.slice(2)] ?? 'terminated';
      const end = { status, error: status === 'failed' ? 'RuntimeError: no answer' : null };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end(`event: end\ndata: ${JSON.stringify(end)}\n\n`);
    }
    asked.push(one);
    const [code, body] = answerTo(one);
    return response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});
beforeEach(() => {
  asked.splice(0);
  ends = {};
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function baton(...line: string[]) {
  const { port } = server.address() as AddressInfo;
  const quiet = quietIo({ BATON_URL: `http://127.0.0.1:${port}`, BATON_TOKEN: 'x' });
  const code = await runCli(['node', 'baton', 'agents', ...line], quiet.io);
  return { code, out: quiet.out(), err: quiet.err() };
}
const bodies = () => asked.filter(({ path }) => path === '/executions').map(({ body }) => body);

test('list has the filters of the original', async () => {
  const line = [
    '--deployment-id',
    'web',
    '--node-id',
    'vm',
    '--node-instance-id',
    'vm_1',
    '--install-methods',
    'remote',
  ];
  const { code, out } = await baton('list', ...line, '--all-tenants');
  expect(code).toBe(0);
  expect(out).toContain('vm_1');
  expect(Object.fromEntries(asked[0]!.query)).toMatchObject({
    deployment_id: 'web',
    node_ids: 'vm',
    node_instance_ids: 'vm_1',
    install_methods: 'remote',
    _all_tenants: 'true',
  });
});

test('show puts record, connection, certificate and last upgrade together', async () => {
  const { out } = await baton('show', 'vm_1');
  expect(out).toMatch(/ip +10\.0\.0\.7/);
  expect(out).toMatch(/hostname +web-0/);
  expect(out).toMatch(/dropped_lines +3/);
  expect(out).toMatch(/certificate_expires_at +2026-12-27 09:00/);
  expect(out).toMatch(/last_upgrade_reason +no stream/);
});

test('validate starts one execution for each deployment, and waits for all', async () => {
  const { code, out } = await baton('validate');
  expect(code).toBe(0);
  expect(bodies()).toEqual(
    Object.entries({ web: ['vm_1', 'vm_2'], db: ['vm_3'] }).map(([deployment_id, node_instance_ids]) => ({
      workflow_id: 'validate_agents',
      deployment_id,
      parameters: { node_instance_ids },
      allow_custom_parameters: true,
    })),
  );
  expect(out.match(/terminated/g)).toHaveLength(2);
});

test('hosts that were chosen are named to the workflow, and methods too', async () => {
  agents = [agent('vm_2', 'web')];
  await baton('validate', '--node-instance-id', 'vm_2', '--install-methods', 'remote', '--detach');
  agents = [agent('vm_1', 'web'), agent('vm_2', 'web'), agent('vm_3', 'db')];
  expect(bodies()).toMatchObject([
    { parameters: { node_instance_ids: ['vm_2'], install_methods: ['remote'] } },
  ]);
});

test('install passes what was given, and nothing else', async () => {
  const pem = join(folder, 'ca.pem');
  writeFileSync(pem, '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n');
  const more = [
    '--stop-old-agent',
    '--manager-ip',
    '10.1.1.1',
    '--manager-certificate',
    pem,
    '--install-agent-timeout',
    '60',
  ];
  await baton('install', '--deployment-id', 'web', '--detach', ...more);
  expect(bodies()[0]).toEqual({
    workflow_id: 'install_new_agents',
    deployment_id: 'web',
    parameters: {
      node_instance_ids: ['vm_1', 'vm_2'],
      stop_old_agent: true,
      manager_ip: '10.1.1.1',
      manager_certificate: readFileSync(pem, 'utf8'),
      install_agent_timeout: 60,
    },
    allow_custom_parameters: true,
  });
});

test('a deployment that is named is asked also where none of its agents is entered', async () => {
  const kept = agents;
  agents = [];
  await baton('install', '--deployment-id', 'new', '--detach');
  agents = kept;
  expect(bodies()).toMatchObject([{ deployment_id: 'new', parameters: {} }]);
});

test('a file without a certificate is refused before anything starts', async () => {
  const file = join(folder, 'not.pem');
  writeFileSync(file, 'hello');
  const { code, err } = await baton('install', '--manager-certificate', file);
  expect(code).toBe(2);
  expect(err).toContain('there is no certificate in it');
  expect(asked).toEqual([]);
});

test('a failed execution, a refused start, and no agent at all have exit codes of their own', async () => {
  ends = { db: 'failed' };
  const failed = await baton('validate', '-o', 'json');
  expect(failed.code).toBe(6);
  // One document, although two executions were followed.
  expect(JSON.parse(failed.out)).toMatchObject([
    { deployment: 'web', execution_id: 'e-web', status: 'terminated' },
    { deployment: 'db', status: 'failed', error: 'RuntimeError: no answer' },
  ]);
  ends = { web: 'refused' };
  const refused = await baton('validate');
  expect(refused.code).toBe(4);
  expect(refused.out).toContain('not now');
  expect(bodies()).toHaveLength(4);
  const kept = agents;
  agents = [];
  expect(await baton('validate')).toMatchObject({
    code: 3,
    err: expect.stringContaining('no agent matches'),
  });
  agents = kept;
});

test('of all tenants: each start names its tenant', async () => {
  const kept = agents;
  agents = [agent('vm_1', 'web'), agent('vm_9', 'web', 'shops')];
  const { out } = await baton('validate', '--all-tenants');
  agents = kept;
  const tenants = asked.filter(({ path }) => path === '/executions').map(({ tenant }) => tenant);
  expect(tenants).toEqual(['default_tenant', 'shops']);
  expect(out).toMatch(/shops +e-web +pending/);
});

test('script is written as it is, for a shell; nothing of it goes to standard error', async () => {
  const printed = await baton('script', 'vm_1', '--network', 'dmz', '-p', 'user=app');
  expect(printed).toEqual({ code: 0, out: SCRIPT, err: '' });
  expect(asked[0]).toMatchObject({
    path: '/agents/vm_1/enrolment',
    body: { network: 'dmz', options: { user: 'app' } },
  });
  expect((await baton('script', 'vm_1', '--link')).out).toBe(`${ENROLMENT.script_url}\n`);
  const file = join(folder, 'install.sh');
  writeFileSync(file, 'old', { mode: 0o644 });
  const { out } = await baton('script', 'vm_1', '--output-path', file);
  expect(out).not.toContain('secret-token');
  expect(readFileSync(file, 'utf8')).toBe(SCRIPT);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('upgrade wants names or --all, so that nobody upgrades everything by accident', async () => {
  expect((await baton('upgrade')).code).toBe(2);
  expect((await baton('upgrade', 'vm_1', '--all')).code).toBe(2);
  expect(asked).toEqual([]);
  await baton('upgrade', '--all');
  const { out } = await baton('upgrade', 'vm_1', 'vm_2');
  expect(asked.map(({ body }) => body)).toEqual([{ names: [] }, { names: ['vm_1', 'vm_2'] }]);
  expect(out).toContain('2 agents change to version 1.5.0');
});

test('rotate-ca makes a new authority beside the old one', async () => {
  const { out } = await baton('rotate-ca');
  expect(asked[0]).toMatchObject({ method: 'PATCH', path: '/agents', body: { bundle: true } });
  expect(out).toContain('1 agent renews its certificate');
});

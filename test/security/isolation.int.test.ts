// S1, S2, S8, S9, S19, S22, S24 (docs/compatibility.md does not mention them: they hold on both wires). Routes come from the
// contracts: a new route with an id is tested as soon as it exists, and a route that nobody has considered fails the test.

import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { tgz, wagon } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf, PASSWORD, type Who } from './caller';
import { codesOfLogin } from './login-codes';
import { publicKey } from './plugin-key';

const CANARY = 'canaryvalue';
let fleet: Fleet;
let caller: Caller;
/** Ids of the owner's resources, by the resource name of the path parameter. */
const mine: Record<string, string> = {};

const admin = (): Who => caller.admin;
const owner: Who = { user: `owner:${PASSWORD}`, tenant: 'default_tenant' };
/** Another user of the same tenant. */
const peer: Who = { user: `peer:${PASSWORD}`, tenant: 'default_tenant' };
/** A manager of another tenant. */
const stranger: Who = { user: `stranger:${PASSWORD}`, tenant: 'elsewhere' };

const send: Caller['send'] = (...asked) => caller.send(...asked);
const must: Caller['must'] = (...asked) => caller.must(...asked);

const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  canarynode: {type: cloudify.nodes.Root, properties: {}}
outputs: {o: {value: ${CANARY}}}
capabilities: {canarycap: {value: ${CANARY}}}
`;

async function usersAndTenants(): Promise<void> {
  await must(admin(), 'POST', '/tenants/elsewhere');
  for (const [username, tenant_name, role] of [
    ['owner', 'default_tenant', 'user'],
    ['peer', 'default_tenant', 'user'],
    ['stranger', 'elsewhere', 'manager'],
  ]) {
    await must(admin(), 'PUT', '/users', { username, password: PASSWORD, role: 'default' });
    await must(admin(), 'PUT', '/tenants/users', { tenant_name, username, role });
  }
}

/** Creates private resources of the owner, each with the canary in its name. */
async function privateThings(): Promise<void> {
  const isPrivate = { visibility: 'private' };
  mine.blueprints = 'canary-blueprint';
  await must(
    owner,
    'PUT',
    '/blueprints/canary-blueprint?visibility=private&labels=canarykey=canaryvalue',
    undefined,
    tgz({ 'blueprint.yaml': BLUEPRINT }),
  );
  mine.deployments = 'canary-deployment';
  await must(owner, 'PUT', '/deployments/canary-deployment', {
    blueprint_id: mine.blueprints,
    labels: [{ canarykey: CANARY }],
    ...isPrivate,
  });
  const folder = `/resources/deployments/${owner.tenant}/${mine.deployments}`;
  await must(owner, 'PUT', `${folder}/blueprint.yaml`, undefined, Buffer.from(CANARY));
  mine.files = 'of-a-tenant';
  const started = { deployment_id: mine.deployments, workflow_id: 'install' };
  const execution = await must(owner, 'POST', '/executions', started);
  mine.executions = execution.id;
  mine.webhooks = 'canary-webhook';
  const hook = { url: 'https://example.com/', events: ['webhook.disabled'] };
  await must(admin(), 'PUT', '/webhooks/canary-webhook', hook);
  mine.triggers = 'canary-trigger';
  await must(owner, 'PUT', '/triggers/canary-trigger', started);
  for (const until = Date.now() + 30_000; Date.now() < until; )
    if ((await must(owner, 'GET', `/executions/${execution.id}`)).status === 'terminated') break;
  const [instance] = (await must(owner, 'GET', '/node-instances?deployment_id=canary-deployment')).items;
  mine['node-instances'] = instance.id;
  await must(owner, 'PUT', `/node-instances/${instance.id}/files/nosuch`, undefined, Buffer.from(CANARY));
  mine.nodes = 'canarynode';
  mine.plugins = (
    await must(owner, 'POST', '/plugins?visibility=private&title=canary', undefined, wagon('canary-plugin'))
  ).id;
  mine['plugin-keys'] = 'key-of-the-tenant';
  await must(admin(), 'PUT', '/plugin-keys/key-of-the-tenant', { public_key: publicKey() });
  mine.secrets = 'canary-secret';
  await must(owner, 'PUT', '/secrets/canary-secret', { value: CANARY, is_hidden_value: true, ...isPrivate });
  mine.sites = 'canary-site';
  await must(owner, 'PUT', '/sites/canary-site', isPrivate);
  mine.filters = 'canary-filter';
  for (const kind of ['deployments', 'blueprints'])
    await must(owner, 'PUT', `/filters/${kind}/canary-filter`, { filter_rules: [], ...isPrivate });
  await must(owner, 'PUT', '/agents/canary-agent', {
    node_instance_id: instance.id,
    state: 'started',
    create_rabbitmq_user: false,
  });
  mine.agents = 'canary-agent';
  mine['agent-connections'] = 'canary-agent';
  mine.tasks_graphs = (
    await must(owner, 'POST', '/tasks_graphs/tasks_graphs', {
      name: 'canary-graph',
      execution_id: execution.id,
      operations: [{ id: 'canary-operation', name: 'canary', type: 'RemoteWorkflowTask' }],
    })
  ).id;
  mine.operations = 'canary-operation';
  mine['execution-schedules'] = 'canary-schedule';
  await must(owner, 'PUT', '/execution-schedules/canary-schedule?deployment_id=canary-deployment', {
    workflow_id: 'install',
    since: '2099-01-01 10:00:00',
    recurrence: '1 day',
  });
  mine['executions-schedules'] = 'canary-schedule';
  mine['deployment-updates'] = (
    await must(owner, 'POST', '/deployment-updates/canary-deployment/update/initiate', {
      blueprint_id: mine.blueprints,
      inputs: {},
      preview: true,
    })
  ).id;
  mine['deployment-groups'] = 'canary-group';
  await must(owner, 'PUT', '/deployment-groups/canary-group', {
    deployment_ids: [mine.deployments],
    ...isPrivate,
  });
  mine['execution-groups'] = (
    await must(owner, 'POST', '/execution-groups', {
      deployment_group_id: 'canary-group',
      workflow_id: 'install',
    })
  ).id;
  mine['deployment-modifications'] = (
    await must(owner, 'POST', '/deployment-modifications', {
      deployment_id: mine.deployments,
      nodes: { canarynode: { instances: 2 } },
    })
  ).id;
  mine.tokens = (await must(owner, 'POST', '/tokens', { description: 'canary' })).id;
  // Saved views of a user.
  mine.user = 'canary-view';
  await must(owner, 'PUT', '/user/views/canary-view', { screen: 'deployments', query: CANARY });
}

beforeAll(async () => {
  fleet = await startFleet({ mode: 'standalone', env: { BATON_LOG_LEVEL: 'debug' } });
  caller = callerOf(fleet);
  await usersAndTenants();
  await privateThings();
}, 120_000);
afterAll(async () => await fleet?.stop(), 60_000);

/** Resources that belong to nobody in a tenant, or whose permissions the matrix of roles decides. */
const NO_TENANT_RESOURCE = new Set(
  `audit brokers config contacts maintenance managers permissions provider tenants user-groups users labels
   snapshots log-bundles secrets-providers db-nodes plugins-updates workers identity-providers login
   service-accounts imports`.split(/\s+/),
);
const firstOf = (route: RouteContract): string => route.path.split('/')[1]!;

const isFile = (route: RouteContract): boolean => /^(resources|file-server-proxy)$/.test(firstOf(route));

/** Returns the kind of resource of the first id in the path; in paths of files it stands behind the kind and the tenant. */
const kindOf = (route: RouteContract): string => {
  if (!isFile(route)) return firstOf(route);
  if (route.path.includes(':plugin_id')) return 'plugins';
  if (route.path.includes(':deployment_id')) return 'deployments';
  return route.path.includes('-resources/') ? 'files' : 'blueprints';
};

/** Returns the path with the ids of the owner's resources. */
function pathWith(route: RouteContract, id: string): string {
  let isFirst = true;
  const path = route.path.replace(/:\w+/g, (name) => {
    if (name === ':tenant_name' && isFile(route)) return owner.tenant;
    const own = isFirst ? id : id === mine[kindOf(route)] ? mine.nodes! : 'nosuch';
    isFirst = false;
    return own;
  });
  return path.replace(/\*$/, 'blueprint.yaml');
}

/** Routes for one existing resource. Routes that create one answer about the caller's own tenant. */
const onResources = () =>
  allRoutes.filter(
    (route) =>
      route.versions.includes('v3.1') &&
      route.path.includes('/:') &&
      route.status !== 201 &&
      !/^(put|create|upload|set[A-Z]\w*Archive|validate)/.test(route.id) &&
      route.id !== 'createTasksGraph' &&
      // Answers about blueprints that the caller sees: the key is only a search word.
      route.id !== 'listSecretUses',
  );

test('S1: every route with an id of a resource is tried', () => {
  const forgotten = onResources().filter(
    (route) => mine[kindOf(route)] === undefined && !NO_TENANT_RESOURCE.has(firstOf(route)),
  );
  expect(forgotten.map((route) => `${route.method} ${route.path}`)).toEqual([]);
});

describe.each([
  ['of another tenant', () => stranger],
  ['private, of another user of the tenant', () => peer],
])('S1: a resource %s is as if it were not there', (_name, who) => {
  test('on every route, with the same answer as an unknown id', async () => {
    const wrong: string[] = [];
    for (const route of onResources()) {
      const id = mine[kindOf(route)];
      // Files and keys of a tenant are visible to all its users.
      if (id === undefined || (/^(files|plugin-keys)$/.test(kindOf(route)) && who() === peer)) continue;
      const unknown = /^[0-9a-f-]{36}$/.test(id) ? randomUUID() : 'nosuch';
      const query = firstOf(route).endsWith('-schedules') ? '?deployment_id=canary-deployment' : '';
      const body = route.body ? bodyOf(route) : undefined;
      const seen = await send(who(), route.method, `${pathWith(route, id)}${query}`, body);
      const other = await send(who(), route.method, `${pathWith(route, unknown)}${query}`, body);
      const told = seen.text.replaceAll(id, 'ID').replaceAll(mine.nodes!, 'nosuch');
      const same = other.text.replaceAll(unknown, 'ID');
      if (seen.status !== other.status || told !== same || seen.status < 400 || told.includes(CANARY))
        wrong.push(
          `${route.method} ${route.path}: ${seen.status} ${told.slice(0, 200)} | unknown: ${other.status} ${same.slice(0, 200)}`,
        );
    }
    expect(wrong).toEqual([]);
  }, 120_000);
});

/** Returns a body that passes validation, so that the answer depends on the resource. */
function bodyOf(route: RouteContract): unknown {
  const bodies: Record<string, unknown> = {
    patchBlueprint: { labels: [] },
    patchDeployment: { labels: [] },
    updateDeployment: { labels: [] },
    actOnExecution: { action: 'cancel' },
    updateExecution: { status: 'terminated' },
    patchNodeInstance: { version: 1, state: 'started' },
    updateSite: { location: '1,2' },
    patchSecret: { value: 'x' },
    updateOperation: { state: 'failed' },
    updateTasksGraph: { state: 'x' },
    updateAgent: { state: 'failed' },
    lockNodeInstanceFile: { lock_id: 'x' },
  };
  if (/visibility/i.test(route.path)) return { visibility: 'tenant' };
  if (firstOf(route) === 'filters') return { filter_rules: [] };
  return bodies[route.id] ?? {};
}

test('S2: lists, totals, searches, summaries and labels tell nothing of another tenant or of private things', async () => {
  const wrong: string[] = [];
  const lists = allRoutes.filter(
    (route) =>
      route.list &&
      route.versions.includes('v3.1') &&
      !route.path.includes('/:') &&
      route.tenant === 'required',
  );
  for (const who of [stranger, peer]) {
    for (const route of lists) {
      const isSummary = route.path.startsWith('/summary/');
      for (const query of ['', '_all_tenants=true', '_search=canary', '_get_all_results=true']) {
        const path = `${route.path}?${query}${isSummary ? '&_target_field=visibility' : ''}`;
        const body = route.method === 'POST' ? { filter_rules: [] } : undefined;
        const answer = await send(who, route.method, path, body);
        if (answer.status >= 500 || /canary/i.test(answer.text.replaceAll(query, '')))
          wrong.push(`${who.user} ${route.method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
        if (isSummary && answer.status === 200 && /private/.test(answer.text))
          wrong.push(`${who.user} ${path} counts private things: ${answer.text.slice(0, 200)}`);
      }
    }
    const events = await send(who, 'GET', `/events?execution_id=${mine.executions}`);
    if (events.body.metadata.pagination.total !== 0) wrong.push('events by the id of a foreign execution');
    const graph = await send(who, 'GET', `/operations?execution_id=${mine.executions}`);
    if (graph.status === 200 && graph.text !== '[]') wrong.push('operations of a foreign execution');
  }
  expect(wrong).toEqual([]);
}, 120_000);

test('S8: tenant, creator, id, role and global visibility of a body are not taken', async () => {
  const more = {
    tenant_name: 'elsewhere',
    created_by: 'admin',
    id: 'other',
    role: 'sys_admin',
    is_system_filter: true,
  };
  const made = [
    await send(peer, 'PUT', '/sites/assigned', more),
    await send(peer, 'PUT', '/secrets/assigned', { value: 'v', ...more }),
    await send(peer, 'PUT', '/filters/deployments/assigned', { filter_rules: [], ...more }),
  ];
  for (const { status, body } of made) {
    if (status >= 400) continue;
    expect([body.tenant_name, body.created_by, body.id ?? 'assigned']).toEqual([
      'default_tenant',
      'peer',
      body.id ?? 'assigned',
    ]);
    expect(body.id).not.toBe('other');
  }
  for (const path of ['/sites/g', '/secrets/g', '/filters/blueprints/g'])
    expect(
      (await send(peer, 'PUT', path, { value: 'v', filter_rules: [], visibility: 'global' })).status,
    ).toBe(403);
  await send(peer, 'POST', '/users/peer', { password: PASSWORD, role: 'sys_admin' });
  await send(peer, 'POST', '/users/peer', { role: 'sys_admin' });
  expect((await must(admin(), 'GET', '/users/peer')).role).toBe('default');
});

test('S9: a hidden value is shown to its creator and to administrators alone, and only by the call that reads it', async () => {
  await must(owner, 'PUT', '/secrets/hidden', { value: CANARY, is_hidden_value: true });
  expect((await must(owner, 'GET', '/secrets/hidden')).value).toBe(CANARY);
  expect((await must(admin(), 'GET', '/secrets/hidden')).value).toBe(CANARY);
  expect((await must(peer, 'GET', '/secrets/hidden')).value).toBe('');
  for (const path of [
    '/secrets',
    '/secrets?_include=value,key',
    '/secrets/share/export',
    '/secrets?_search=hidden',
  ])
    expect((await send(peer, 'GET', path)).text).not.toContain(CANARY);
  for (const path of ['/secrets', '/secrets?_include=key', '/searches/secrets'])
    expect(
      (
        await send(
          owner,
          path.startsWith('/s') && path.includes('searches') ? 'POST' : 'GET',
          path,
          path.includes('searches') ? { filter_rules: [] } : undefined,
        )
      ).text,
    ).not.toContain(CANARY);
  expect((await send(peer, 'PATCH', '/secrets/hidden', { value: 'x' })).status).toBe(403);
  expect((await send(peer, 'DELETE', '/secrets/hidden')).status).toBe(403);
});

test('S19: nothing in a query, a path or a header reaches SQL or an answer as more than a value', async () => {
  const wrong: string[] = [];
  const words = [
    "'; drop table sites; --",
    '") or 1=1 --',
    '\\',
    '%00',
    '\u0000',
    '${7*7}',
    '<script>alert(1)</script>',
    'a\r\nx-injected: 1',
  ];
  const lists = allRoutes.filter(
    (route) => route.list && route.method === 'GET' && !route.path.includes('/:'),
  );
  for (const route of lists) {
    for (const word of words) {
      const value = word === '%00' ? word : encodeURIComponent(word);
      for (const key of [
        '_sort',
        '_include',
        '_search',
        '_size',
        '_filter_id',
        '_range',
        route.list!.filters[0] ?? 'id',
        value,
      ]) {
        const answer = await send(admin(), 'GET', `${route.path}?${key}=${value}`);
        if (answer.status >= 500)
          wrong.push(`${route.path}?${key}=${word}: ${answer.status} ${answer.text.slice(0, 200)}`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect((await must(owner, 'GET', '/sites/canary-site')).name).toBe('canary-site');
}, 180_000);

/** Whether the manager lives, and the ways in. */
const OPEN = [
  'GET /ok',
  'GET /snapshot-status',
  'POST /session',
  'GET /login/providers',
  'GET /login/oidc/:provider_id',
  'GET /login/oidc/:provider_id/callback',
  'POST /token-exchange',
  'POST /login/device',
  'POST /login/device/token',
];

test('S24: without credentials only what is meant to be open answers, and it names nothing', async () => {
  const nobody: Who = { user: null, tenant: 'default_tenant' };
  const open: string[] = [];
  for (const route of allRoutes.filter(({ versions }) => versions.includes('v3.1'))) {
    const answer = await send(
      nobody,
      route.method,
      route.path.replace(/:\w+|\*/g, 'nosuch'),
      route.body ? {} : undefined,
    );
    if (answer.status !== 401) open.push(`${route.method} ${route.path}`);
    expect(answer.text).not.toMatch(/\d+\.\d+\.\d+|canary/);
  }
  expect(open.filter((path) => !OPEN.includes(path))).toEqual([]);
});

test('S22: a passphrase in an address, a password of a sign-in, the secret of its session and codes of logins are in no log', async () => {
  const word = 'passphrase-canary-of-the-logs';
  expect((await send(owner, 'GET', `/secrets/share/export?_passphrase=${word}`)).status).toBe(200);
  expect(
    (await send(owner, 'GET', `/secrets/share/export?_passphrase=${word}&rubbish=1`)).status,
  ).toBeGreaterThan(199);
  const signIn = (password: string) =>
    fetch(`${fleet.baseUrl}/api/v3.1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'owner', password }),
    });
  const wrong = `${word}-wrong`;
  expect((await signIn(wrong)).status).toBe(401);
  const cookie = (await signIn(PASSWORD)).headers.get('set-cookie')!.split(';', 1)[0]!;
  const bySession = (method: string, path: string) =>
    fetch(`${fleet.baseUrl}/api/v3.1${path}`, { method, headers: { cookie, tenant: owner.tenant } });
  expect((await bySession('GET', '/blueprints')).status).toBe(200);
  expect((await bySession('DELETE', '/blueprints/nosuch')).status).toBe(403);
  const codes = await codesOfLogin(fleet.baseUrl, cookie);
  const dir = join(fleet.dir, 'logs');
  for (const file of readdirSync(dir)) {
    const log = readFileSync(join(dir, file), 'utf8');
    for (const secret of [word, PASSWORD, cookie.slice(-40), CANARY, ...codes])
      expect(log).not.toContain(secret);
  }
});

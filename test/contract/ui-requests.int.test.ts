// Requests of the original's user interface, as its widgets and dropdowns send them: with the sort column of their tables and an
// empty search. Then those of `cfy agents`. On the original's wire each must be answered, sorted as requested. Needs the bundles of
// `npm run build`.
import { eventually } from '@baton/testkit';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf } from '../security/caller';
import { tgz } from './world';

const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  a: {type: cloudify.nodes.Root, capabilities: {scalable: {properties: {default_instances: 3}}}}
  b: {type: cloudify.nodes.Root}
  c: {type: cloudify.nodes.Root, capabilities: {scalable: {properties: {default_instances: 2}}}}
groups: {pair: {members: [a, b]}}
policies: {scaled: {type: cloudify.policies.scaling, targets: [pair]}}
capabilities: {url: {value: http://x}}
`;
const HOST = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  host: {type: cloudify.nodes.Compute, properties: {ip: 127.0.0.1, agent_config: {install_method: none}}}
`;
const PAGE = '_search=&_size=10&_offset=0';

let fleet: Fleet;
let caller: Caller;
beforeAll(async () => {
  fleet = await startFleet({
    mode: 'standalone',
    env: { BATON_VALIDATE_RESPONSES: 'true', BATON_WIRE: 'cloudify' },
  });
  caller = callerOf(fleet);
  const { admin, must } = caller;
  await must(admin, 'PUT', '/sites/site1', {});
  await must(admin, 'PUT', '/secrets/s1', { value: 'v' });
  await must(admin, 'PUT', '/blueprints/b1', undefined, tgz({ 'blueprint.yaml': BLUEPRINT }));
  const isUploaded = async () => (await must(admin, 'GET', '/blueprints/b1')).state === 'uploaded';
  await eventually(isUploaded, { deadlineMs: 30_000 });
  const labels = [{ team: 'red' }, { team: 'blue' }];
  await must(admin, 'PUT', '/deployments/d1', { blueprint_id: 'b1', labels, site_name: 'site1' });
  const start = { deployment_id: 'd1', workflow_id: 'install' };
  await eventually(async () => (await caller.send(admin, 'POST', '/executions', start)).status === 201, {
    deadlineMs: 30_000,
  });
  const ended = '/executions?deployment_id=d1&workflow_id=install&status_display=completed';
  await eventually(async () => (await must(admin, 'GET', ended)).items.length === 1, { deadlineMs: 60_000 });
}, 180_000);
afterAll(async () => await fleet?.stop(), 60_000);

const column = async (path: string, field: string): Promise<unknown[]> =>
  (await caller.must(caller.admin, 'GET', path)).items.map((item: Record<string, unknown>) => item[field]);

test.each([
  ['GET', `/labels/deployments?_sort=id&${PAGE}`],
  ['GET', `/labels/deployments/team?_sort=id&${PAGE}`],
  ['GET', `/labels/blueprints?_sort=id&${PAGE}`],
  ['GET', '/summary/deployments?_include=id,site_name&_target_field=site_name&_sub_field=deployment_status'],
  ['GET', '/summary/blueprints?_include=id&_sort=-id&_target_field=visibility'],
  ['GET', `/summary/executions?_target_field=status_display&_sort=-status_display&${PAGE}`],
  ['GET', '/summary/execution_schedules?_target_field=deployment_id&_include=id&_sort=id'],
  ['GET', '/summary/nodes?_target_field=deployment_id&_include=id&_sort=id'],
  ['GET', '/summary/node_instances?_target_field=host_id&state=started&_sort=id'],
  ['POST', `/searches/capabilities?deployment_id=d1&_sort=value&${PAGE}`],
  ['POST', `/searches/scaling-groups?deployment_id=d1&_sort=id&${PAGE}`],
  ['POST', `/searches/node-types?deployment_id=d1&_include=type&_sort=type&${PAGE}`],
  ['POST', `/searches/deployments?_include=id,display_name&_sort=id&_search_name=&${PAGE}`],
  [
    'GET',
    `/events?_range=@reported_timestamp,2020-01-01T00:00:00.000Z,&_sort=-timestamp&message=%25&${PAGE}`,
  ],
  ['GET', '/deployments/d1?all_sub_deployments=false&_include=id,sub_services_count'],
])('%s %s', async (method, path) => {
  const body = method === 'POST' ? { constraints: {} } : undefined;
  const answer = await caller.send(caller.admin, method, path, body);
  expect([answer.status, answer.status < 300 ? '' : answer.text]).toEqual([200, '']);
});

test('labels keep their order, whatever is asked for', async () => {
  const answer = await caller.must(caller.admin, 'GET', `/labels/deployments/team?_sort=-id&${PAGE}`);
  expect(answer.items).toEqual(['blue', 'red']);
});

test('executions are filtered by the status that is shown', async () => {
  const of = (status: string) =>
    column(`/executions?workflow_id=install&_include=workflow_id&status_display=${status}`, 'workflow_id');
  expect(await of('completed')).toEqual(['install']);
  expect(await of('terminated')).toEqual([]);
  expect(await of('failed&status_display=completed')).toEqual(['install']);
});

test('nodes are sorted by how many instances they have', async () => {
  const by = (sort: string) => column(`/nodes?deployment_id=d1&_include=id&_sort=${sort}&${PAGE}`, 'id');
  expect(await by('actual_number_of_instances')).toEqual(['b', 'c', 'a']);
  expect(await by('-actual_number_of_instances')).toEqual(['a', 'c', 'b']);
  expect(await by('drifted_instances&_sort=unavailable_instances')).toEqual(['a', 'b', 'c']);
});

test('users are sorted by whether they are shown the start page', async () => {
  const { admin, must } = caller;
  for (const [username, show_getting_started] of Object.entries({ u1: false, u2: true, u3: false })) {
    await must(admin, 'PUT', '/users', { username, password: 'long-enough-password', role: 'default' });
    await must(admin, 'POST', `/users/${username}`, { show_getting_started });
  }
  const users = await column('/users?_sort=show_getting_started&_sort=username', 'username');
  expect(users).toEqual(['u1', 'u3', 'admin', 'u2']);
});

test('agents are sorted by node and deployment', async () => {
  const { admin, must } = caller;
  const instances = '/node-instances?deployment_id=d1&_include=id,node_id&_sort=node_id&_sort=id';
  const { items } = await must(admin, 'GET', instances);
  for (const [i, { id }] of items.reverse().entries())
    await must(admin, 'PUT', `/agents/agent${i}`, {
      node_instance_id: id,
      state: 'started',
      install_method: 'remote',
      create_rabbitmq_user: false,
    });
  const by = (sort: string) => column(`/agents?state=started&_sort=${sort}&${PAGE}`, 'node');
  expect(await by('node')).toEqual(['a', 'a', 'a', 'b', 'c', 'c']);
  expect(await by('-deployment&_sort=-node')).toEqual(['c', 'c', 'b', 'a', 'a', 'a']);
});

test('cfy agents list: every filter, and flags as its client writes them', async () => {
  const all = await column('/agents?_all_tenants=False', 'id');
  expect(all).toHaveLength(6);
  const [first, second] = all as string[];
  const of = (query: string) => column(`/agents?_all_tenants=False&${query}`, 'id');
  expect(await of(`node_instance_ids=${first}&node_instance_ids=${second}`)).toEqual([first, second]);
  expect(
    await of('deployment_id=d1&node_ids=b&install_methods=remote&install_methods=provided'),
  ).toHaveLength(1);
  expect(await of('install_methods=plugin')).toEqual([]);
  expect(await of('deployment_id=d2')).toEqual([]);
});

test.each([
  ['validate_agents', {}],
  ['install_new_agents', { install_agent_timeout: 300, stop_old_agent: true }],
])('cfy agents: it finds its deployments and starts %s with %j', async (workflow_id, chosen) => {
  const { admin, must } = caller;
  await installHost();
  // What the command asks, to find deployments whose hosts are all started.
  await must(
    admin,
    'GET',
    '/deployments?id=d3&_include=id,tenant_name&_get_all_results=True&_all_tenants=False',
  );
  const nodes = await must(
    admin,
    'GET',
    '/nodes?id=host&_include=id,deployment_id,tenant_name&_get_all_results=True&_all_tenants=False',
  );
  expect(nodes.items).toEqual([{ id: 'host', deployment_id: 'd3', tenant_name: 'default_tenant' }]);
  const instances = await must(
    admin,
    'GET',
    '/node-instances?_include=id,host_id,deployment_id,state&_offset=0',
  );
  const host = instances.items.find((one: { deployment_id: string }) => one.deployment_id === 'd3');
  expect(host).toMatchObject({ host_id: host.id, state: 'started' });
  const execution = await must(admin, 'POST', '/executions', {
    deployment_id: 'd3',
    workflow_id,
    parameters: { install_methods: ['provided'], ...chosen },
    allow_custom_parameters: 'true',
    force: 'false',
    dry_run: 'false',
    queue: 'false',
    wait_after_fail: 600,
  });
  await eventually(
    async () => (await must(admin, 'GET', `/executions/${execution.id}`)).status === 'terminated',
    { deadlineMs: 60_000 },
  );
});

/** A deployment with a host that has no agent, installed once. */
async function installHost(): Promise<void> {
  const { admin, must, send } = caller;
  if ((await send(admin, 'GET', '/deployments/d3')).status === 200) return;
  await must(admin, 'PUT', '/blueprints/b3', undefined, tgz({ 'blueprint.yaml': HOST }));
  await eventually(async () => (await must(admin, 'GET', '/blueprints/b3')).state === 'uploaded', {
    deadlineMs: 30_000,
  });
  await must(admin, 'PUT', '/deployments/d3', { blueprint_id: 'b3' });
  const start = { deployment_id: 'd3', workflow_id: 'install' };
  await eventually(async () => (await send(admin, 'POST', '/executions', start)).status === 201, {
    deadlineMs: 30_000,
  });
  const ended = '/executions?deployment_id=d3&workflow_id=install&status=terminated';
  await eventually(async () => (await must(admin, 'GET', ended)).items.length === 1, { deadlineMs: 60_000 });
}

test('DELETE /events tells the page that was asked for, and cuts nothing', async () => {
  const { admin, must } = caller;
  const path = '/events?type=cloudify_event&type=cloudify_log&deployment_id=d1';
  const stored = (await must(admin, 'GET', `${path}&_size=1`)).metadata.pagination.total;
  const { items, metadata } = await must(admin, 'DELETE', `${path}&_size=1`);
  expect([items, metadata]).toEqual([[stored], { pagination: { size: 1, total: stored } }]);
  expect((await must(admin, 'DELETE', `${path}&_offset=2`)).metadata).toEqual({
    pagination: { offset: 2, total: 0 },
  });
  expect((await must(admin, 'DELETE', path)).metadata).toEqual({ pagination: { total: 0 } });
});

test('the execution that made a deployment is there when the deployment is answered, also of many at once', async () => {
  const { admin, must } = caller;
  const made = async (id: string) => {
    const { create_execution } = await must(admin, 'PUT', `/deployments/${id}`, { blueprint_id: 'b1' });
    return await must(admin, 'GET', `/executions?deployment_id=${id}&id=${create_execution}`);
  };
  const found = await Promise.all(Array.from({ length: 12 }, (_, i) => made(`at-once-${i}`)));
  expect(found.map(({ items }) => items.length)).toEqual(found.map(() => 1));
});

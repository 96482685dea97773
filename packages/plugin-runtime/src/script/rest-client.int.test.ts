import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Json, JsonObject } from '@baton/kernel';
import { makeRig, type Rig } from '../testing/memory-host';
import { defaultAssetsDir } from './settings';

interface Heard {
  line: string;
  headers: NodeJS.Dict<string | string[]>;
  body: Json;
}

/** Starts a REST service that gives the configured answers and records the requests. */
async function startService(answers: Record<string, { status?: number; body: Json }>) {
  const heard: Heard[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const line = `${request.method} ${decodeURIComponent(request.url ?? '')}`;
      heard.push({ line, headers: request.headers, body: text === '' ? null : (JSON.parse(text) as Json) });
      const { status = 200, body } = answers[line] ?? {
        status: 404,
        body: { message: `nothing at ${line}`, error_code: 'not_found_error' },
      };
      response.writeHead(status).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { heard, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const record = (id: string, more: JsonObject = {}): JsonObject => ({ id, ...more });
const page = (...items: JsonObject[]): JsonObject => ({
  items,
  metadata: { pagination: { total: items.length, offset: 0, size: 1000 } },
});

let service: Awaited<ReturnType<typeof startService>> | undefined;
afterEach(() => void service?.server.close());

async function rigWith(answers: Record<string, { status?: number; body: Json }>): Promise<Rig> {
  service = await startService(answers);
  const rig = makeRig();
  rig.deps.scripts = { ...rig.deps.scripts, managerUrl: service.url };
  return rig;
}

const head = 'from cloudify import ctx, manager\nclient = manager.get_rest_client()\n';

describe('the REST client of scripts', () => {
  it('calls the manager with the token and tenant of the execution', async () => {
    const rig = await rigWith({
      'GET /api/v3.1/secrets/a/b': { body: record('x', { value: 'hush' }) },
      'GET /api/v3.1/executions?_include=id,status&deployment_id=dep&_include_system_workflows=true&_sort=-created_at':
        {
          body: page(record('e1', { status: 'started' }), record('e2', { status: 'failed' })),
        },
      'POST /api/v3.1/executions': { status: 201, body: record('e3', { status: 'pending' }) },
    });
    const end = await rig.script(
      `${head}
from cloudify_rest_client.executions import Execution
found = client.executions.list(deployment_id='dep', include_system_workflows=True, sort='created_at',
                               is_descending=True, _include=['id', 'status'])
started = client.executions.start('dep', 'heal', {'x': 1}, schedule=None, force=True)
ctx.returns([client.secrets.get('a/b').value, [e.status for e in found], found.metadata.pagination.total,
             found.one().id if len(found) == 1 else None, started.status == Execution.PENDING])`,
    );
    expect(end).toEqual({ kind: 'succeeded', result: ['hush', ['started', 'failed'], 2, null, true] });
    const last = service?.heard.at(-2);
    expect(last).toMatchObject({
      headers: { 'execution-token': 'token', tenant: 'default_tenant' },
      body: { deployment_id: 'dep', workflow_id: 'heal', parameters: { x: 1 }, force: true },
    });
    expect(last?.headers['authentication-token']).toBeUndefined();
  });

  it('lists events, and log lines when they are asked for', async () => {
    const rig = await rigWith({
      'GET /api/v3.1/events?type=cloudify_event&execution_id=e': { body: page(record('1')) },
      'GET /api/v3.1/events?type=cloudify_event&type=cloudify_log&message.text=%x%&_range=timestamp,2024-01-01T00:00:00,&_sort=-timestamp':
        { body: page(record('2'), record('3')) },
    });
    const end = await rig.script(`${head}
from datetime import datetime
late = client.events.list(include_logs=True, message='%x%', from_datetime=datetime(2024, 1, 1), sort='timestamp',
                          is_descending=True)
ctx.returns([[e.id for e in found] for found in (client.events.list(execution_id='e'), late)])`);
    expect(end).toEqual({ kind: 'succeeded', result: [['1'], ['2', '3']] });
  });

  it('takes further arguments by their place, and archives under the names of plugins', async () => {
    const rig = await rigWith({
      'GET /api/v3.1/sites?_include=name&_sort=-name': { body: page(record('s')) },
      'GET /api/v3.1/executions/e?_include=id': { body: record('e') },
      'PUT /api/v3.1/blueprints/b?visibility=private&async_upload=true&application_file_name=main.yaml&blueprint_archive_url=http://x/y.zip':
        { body: record('b') },
      'PUT /api/v3.1/blueprints/b/validate?visibility=tenant&blueprint_archive_url=http://x/y.zip': {
        body: null,
      },
      'PATCH /api/v3.1/blueprints/b': { body: record('b', { state: 'uploaded' }) },
    });
    const end = await rig.script(`${head}
address = 'http://x/y.zip'
ctx.returns([
    client.sites.list(['name'], 'name', True)[0].id, client.executions.get('e', ['id']).id,
    client.blueprints._upload(address, 'b', 'main.yaml', 'private', async_upload=True).id,
    client.blueprints.validate(address, 'b'), client.blueprints.update('b', {'state': 'uploaded'}).state])`);
    expect(end).toEqual({ kind: 'succeeded', result: ['s', 'e', 'b', null, 'uploaded'] });
    expect(service?.heard.at(-1)?.body).toEqual({ state: 'uploaded' });
  });

  it('names managers and brokers of a network to operations', async () => {
    const host = (hostname: string, networks: JsonObject | null) => ({ hostname, networks });
    const rig = await rigWith({
      'GET /api/v3.1/managers': {
        body: page(
          host('m1', { default: '10.0.0.1', edge: '10.9.0.1' }),
          host('m2', { default: '10.0.0.2' }),
        ),
      },
      'GET /api/v3.1/brokers': {
        body: page({ name: 'b1', host: 'b1', networks: { default: 'b1' }, username: null, password: null }),
      },
    });
    const end = await rig.script(`from cloudify import ctx
ctx.logger.info('Managers: {}'.format(ctx.get_managers()))
names = lambda found: [one['hostname'] for one in found]
ctx.returns([names(ctx.get_managers()), names(ctx.get_managers('edge')), names(ctx.get_managers(network='none')),
             [(b.name, b.username) for b in ctx.get_brokers()], ctx.get_brokers('edge')])`);
    expect(end).toEqual({ kind: 'succeeded', result: [['m1', 'm2'], ['m1'], [], [['b1', null]], []] });
    expect(service?.heard.at(-1)?.headers).toMatchObject({ 'execution-token': 'token' });
  });

  it('changes nodes, instances and dependencies for the context of workflows', async () => {
    const lines = [
      'POST /api/v3.1/nodes',
      'PATCH /api/v3.1/nodes/d/n',
      'DELETE /api/v3.1/nodes/d/n',
      'POST /api/v3.1/node-instances',
      'DELETE /api/v3.1/node-instances/n_1',
      'PUT /api/v3.1/deployments/d/inter-deployment-dependencies',
    ];
    const rig = await rigWith(Object.fromEntries(lines.map((line) => [line, { body: record('x') }])));
    const end = await rig.script(`from cloudify import ctx
from cloudify.workflows.rest_calls import RestCalls
calls = RestCalls()
calls.create_nodes('d', [{'id': 'n'}])
calls.update_node('d', 'n', plugins=[])
calls.delete_node('d', 'n')
calls.create_node_instances('d', [{'id': 'n_1'}])
calls.delete_node_instance('n_1')
calls.update_idds('d', [{'dependency_creator': 'c'}])
ctx.returns('done')`);
    expect(end).toEqual({ kind: 'succeeded', result: 'done' });
    expect(service?.heard.map(({ line, body }) => [line, body])).toEqual([
      [lines[0], { deployment_id: 'd', nodes: [{ id: 'n' }] }],
      [lines[1], { plugins: [] }],
      [lines[2], null],
      [lines[3], { deployment_id: 'd', node_instances: [{ id: 'n_1' }] }],
      [lines[4], null],
      [lines[5], { inter_deployment_dependencies: [{ dependency_creator: 'c' }] }],
    ]);
  });

  it('raises errors by their code', async () => {
    const rig = await rigWith({
      'GET /api/v3.1/deployments/d': {
        status: 403,
        body: { message: 'no', error_code: 'forbidden_while_cancelling', server_traceback: null },
      },
    });
    const end = await rig.script(
      `${head}
from cloudify_rest_client.exceptions import CloudifyClientError, ForbiddenWhileCancelling
caught = []
for call in (lambda: client.deployments.get('d'), lambda: client.deployments.get('gone')):
    try:
        call()
    except CloudifyClientError as error:
        caught.append([type(error) is ForbiddenWhileCancelling, error.status_code, error.error_code, str(error)])
ctx.returns(caught)`,
    );
    expect(end).toMatchObject({
      result: [
        [true, 403, 'forbidden_while_cancelling', '403: no'],
        [false, 404, 'not_found_error', '404: nothing at GET /api/v3.1/deployments/gone'],
      ],
    });
  });

  it.each([
    ['client.secrets.get()', 'TypeError', "get() misses the argument 'key'"],
    ["client.secrets.get('a', ['b'], 'c')", 'TypeError', 'get() takes 2 arguments but 3 were given'],
    [
      'client.sites.frobnicate()',
      'AttributeError',
      'there is no sites.frobnicate; there are: create, delete, get, list, update',
    ],
  ])('says what is wrong with %s', async (call, exceptionType, message) => {
    const end = await (await rigWith({})).script(`${head}${call}`);
    expect(end).toMatchObject({ kind: 'failed', failure: { exceptionType, message } });
  });

  it('stands behind the library that the code brings itself', async () => {
    const rig = await rigWith({});
    const end = await rig.script(
      `import os, sys
own = os.path.join(os.environ['TMPDIR'], 'cloudify_rest_client')
os.mkdir(own)
with open(os.path.join(own, '__init__.py'), 'w') as f:
    f.write('class CloudifyClient(object):\\n    def __init__(self, **given):\\n        self.given = given\\n')
sys.path.append(os.environ['TMPDIR'])
sys.path.insert(0, sys.path.pop())
${head}
ctx.returns(client.given)`,
    );
    const url = new URL(service?.url ?? '');
    expect(end).toMatchObject({
      result: {
        host: '127.0.0.1',
        port: Number(url.port),
        protocol: 'http',
        headers: { 'Execution-Token': 'token' },
        tenant: 'default_tenant',
        token: null,
        cert: null,
      },
    });
  });

  it('serves the functions of cloudify.manager', async () => {
    const instance = record('db_1', {
      node_id: 'db',
      deployment_id: 'dep',
      host_id: 'vm_1',
      state: 'started',
      version: 4,
      runtime_properties: { a: 1 },
      relationships: [],
      scaling_groups: [{ id: 'g_1', name: 'g' }],
    });
    const rig = await rigWith({
      'GET /api/v3.1/node-instances/db_1?_evaluate_functions=false': { body: instance },
      'GET /api/v3.1/node-instances/db_1': { body: instance },
      'GET /api/v3.1/node-instances/vm_1': {
        body: { ...instance, id: 'vm_1', node_id: 'vm', host_id: 'vm_1', runtime_properties: {} },
      },
      'GET /api/v3.1/nodes?deployment_id=dep&id=vm&evaluate_functions=false': {
        body: page(record('vm', { properties: { ip: '10.0.0.7' } })),
      },
      'PATCH /api/v3.1/node-instances/db_1': { body: instance },
      'GET /api/v3.1/provider/context': { body: { name: 'p', context: { cloudify: { user: 'u' } } } },
      'GET /api/v3.1/config?scope=workflow': { body: page({ name: 'task_retries', value: 60 }) },
      'GET /resources/blueprints/default_tenant/bp/a b.txt': { body: 'text' },
    });
    const end = await rig.script(
      `${head}
from cloudify.exceptions import HttpException
instance = manager.get_node_instance('db_1')
instance['b'] = 2
told = [instance.dirty, instance.scaling_groups, manager.get_node_instance_ip('db_1')]
manager.update_node_instance(instance)
told.append(manager.get_bootstrap_context())
parts = ctx.bootstrap_context
told.append([parts.cloudify_agent.user, parts.policy_engine.start_timeout, parts.resources_prefix, parts['user']])
told.append([ctx.instance._node_instance.id, ctx.instance._node_instance.host_id])
told.append(manager.get_resource('bp', 'dep', 'default_tenant', 'a b.txt').decode())
try:
    manager.get_resource_from_manager('nothing')
except HttpException as error:
    told.append(error.code)
ctx.returns(told)`,
    );
    expect(end).toMatchObject({
      result: [
        true,
        { g_1: 'g' },
        '10.0.0.7',
        { user: 'u', workflows: { task_retries: 60 } },
        [null, null, '', 'u'],
        ['web_abc123', null],
        '"text"',
        404,
      ],
    });
    expect(service?.heard.find(({ line }) => line.startsWith('PATCH'))?.body).toEqual({
      state: 'started',
      runtime_properties: { a: 1, b: 2 },
      version: 4,
    });
  });

  it('asks for nothing that the manager does not serve', () => {
    const python = join(defaultAssetsDir, 'python');
    const dump = `import json
from cloudify_rest_client.calls import Call
from cloudify_rest_client.resources import RESOURCES, SEARCHES
calls = [Call(method, line) for lines in RESOURCES.values() for method, line in lines.items()]
print(json.dumps([[c.verb.lower(), c.path] for c in calls] + [['post', path] for path in SEARCHES.values()]))`;
    const lines = JSON.parse(
      execFileSync('python3', ['-B', '-c', dump], {
        env: { ...process.env, PYTHONPATH: `${python}:${join(python, 'fallback')}` },
        encoding: 'utf8',
      }),
    ) as [string, string][];
    const openapi = JSON.parse(
      readFileSync(join(defaultAssetsDir, '../../docs/generated/openapi.json'), 'utf8'),
    ) as { paths: Record<string, JsonObject> };
    const nameless = (path: string): string => path.replace(/{\w+}/g, '{}');
    const served = new Set(
      Object.entries(openapi.paths).flatMap(([path, verbs]) =>
        Object.keys(verbs).map((verb) => `${verb} ${nameless(path)}`),
      ),
    );
    expect(lines.length).toBeGreaterThan(90);
    expect(lines.filter(([verb, path]) => !served.has(`${verb} /api/v3.1${nameless(path)}`))).toEqual([]);
  });
});

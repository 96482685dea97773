// S31: webhooks and triggers of a whole manager of several processes: nothing is lost when the process that sends is killed, and a
// signed request starts what its creator may start, and no more.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit/eventually';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { tgz } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf, type Who } from './caller';

const TENANT = 'default_tenant';
const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs: {n: {default: 1}}
node_templates: {n: {type: cloudify.nodes.Root}}
`;
const CHECKED = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs: {n: {default: 1}}
node_templates:
  n:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {check_drift: drift.sh}}
`;
interface Told {
  id: string;
  type: string;
  data: Record<string, string>;
  request: { headers: Record<string, string>; body: string };
}

let fleet: Fleet;
let caller: Caller;
let database: pg.Client;
let server: http.Server;
let user: Who;
const told: Told[] = [];
let isHanging = false;

beforeAll(async () => {
  server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const headers = request.headers as Record<string, string>;
      told.push({ id: headers['webhook-id']!, ...JSON.parse(body), request: { headers, body } });
      if (!isHanging) response.end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  fleet = await startFleet({ mode: 'services', env: { BATON_WEBHOOKS_ALLOW: '127.0.0.1' } });
  caller = callerOf(fleet);
  database = new pg.Client({ connectionString: fleet.databaseUrl });
  await database.connect();
  user = await caller.user('user1', TENANT, 'user');
}, 120_000);
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await database?.end();
  await fleet?.stop();
}, 60_000);

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const typesOf = (id: string) =>
  told.filter(({ data }) => Object.values(data).includes(id)).map(({ type }) => type);
const hears = (id: string, types: string[]) =>
  eventually(() => expect([...new Set(typesOf(id))].sort()).toEqual([...types].sort()), {
    deadlineMs: 20_000,
  });
const listens = () =>
  eventually(async () => {
    const { rows } = await database.query('select is_listening from executions.listening_tenants');
    expect(rows).toEqual([{ is_listening: true }]);
  });

test('every kind of fact is told, signed', async () => {
  const { secret } = await caller.must(caller.admin, 'PUT', '/webhooks/all', { url: url(), events: ['*'] });
  await listens();
  await caller.must(user, 'PUT', '/blueprints/b1', undefined, tgz({ 'blueprint.yaml': BLUEPRINT }));
  await hears('b1', ['blueprint.uploaded']);
  await caller.must(user, 'PUT', '/deployments/d1', { blueprint_id: 'b1' });
  await hears('d1', ['deployment.created']);
  await caller.must(user, 'PATCH', '/deployments/d1', { display_name: 'first' });
  const { id } = await caller.must(user, 'POST', '/executions', {
    deployment_id: 'd1',
    workflow_id: 'install',
  });
  await hears(id, ['execution.started', 'execution.finished']);
  await hears('d1', ['deployment.created', 'deployment.updated', 'execution.started', 'execution.finished']);
  await caller.must(user, 'DELETE', '/deployments/d1?force=true');
  await eventually(() => expect(typesOf('d1')).toContain('deployment.deleted'));
  await caller.must(user, 'DELETE', '/blueprints/b1');
  await eventually(() => expect(typesOf('b1')).toContain('blueprint.deleted'));
  for (const { request } of told) new Webhook(secret).verify(request.body, request.headers);
  expect(new Set(told.map((one) => one.id)).size).toBe(told.length);
}, 60_000);

test('an update of a deployment and drift that a check finds are told', async () => {
  const files = {
    'blueprint.yaml': CHECKED,
    'drift.sh': `#!/bin/sh\nctx returns '@{"size": {"expected": 1}}'\n`,
  };
  await caller.must(user, 'PUT', '/blueprints/b3', undefined, tgz(files));
  await caller.must(user, 'PUT', '/deployments/d3', { blueprint_id: 'b3' });
  await hears('d3', ['deployment.created']);
  const run = (workflow: string) =>
    caller.must(user, 'POST', '/executions', { deployment_id: 'd3', workflow_id: workflow });
  const ends = (id: string) => eventually(() => expect(typesOf(id)).toContain('execution.finished'));
  await ends((await run('install')).id);
  await ends((await run('check_drift')).id);
  await eventually(() => expect(typesOf('d3')).toContain('deployment.drift_changed'), { deadlineMs: 20_000 });
  const drift = told.find(({ type }) => type === 'deployment.drift_changed')!;
  expect(drift.data).toMatchObject({ deployment_id: 'd3', status: 'drifted', newly_drifted: 1 });
  const path = '/deployment-updates/d3/update/initiate';
  const { execution_id: id } = await caller.must(user, 'PUT', path, { inputs: { n: 2 } });
  await ends(id);
  await eventually(() => {
    const updates = told.filter(
      ({ type, data }) => type === 'deployment.updated' && data.change === 'update',
    );
    expect(updates.map(({ data }) => data.deployment_id)).toEqual(['d3']);
  });
}, 90_000);

test('kill -9 between the request and its record loses nothing: the same delivery comes again', async () => {
  await caller.must(user, 'PUT', '/blueprints/b2', undefined, tgz({ 'blueprint.yaml': BLUEPRINT }));
  await hears('b2', ['blueprint.uploaded']);
  isHanging = true;
  await caller.must(user, 'PUT', '/deployments/d2', { blueprint_id: 'b2' });
  await eventually(() => expect(typesOf('d2')).toEqual(['deployment.created']));
  const sender = fleet.processes.get('cluster-status')!;
  sender.signal('SIGKILL');
  await sender.ended();
  isHanging = false;
  // A fact while nobody is there to hear it.
  await caller.must(user, 'PATCH', '/deployments/d2', { display_name: 'second' });
  sender.start();
  // The lease of the dead process would end after a minute.
  await database.query(
    'update cluster_status.webhook_deliveries set lease_until = now() where lease_owner is not null',
  );
  await eventually(
    () =>
      expect(typesOf('d2').sort()).toEqual([
        'deployment.created',
        'deployment.created',
        'deployment.updated',
      ]),
    {
      deadlineMs: 30_000,
    },
  );
  const twice = told.filter(({ type, data }) => type === 'deployment.created' && data.deployment_id === 'd2');
  expect(new Set(twice.map(({ id }) => id)).size).toBe(1);
  // Executions of the test before may have been told while the receiver hung: their next attempt is due later.
  const waiting = '/webhooks/all/deliveries?state=pending&event=deployment.created&event=deployment.updated';
  expect((await caller.must(caller.admin, 'GET', waiting)).items).toEqual([]);
}, 90_000);

test('a trigger starts as its creator, through the gateway and without a login, until the creator is gone', async () => {
  const settings = { deployment_id: 'd2', workflow_id: 'install', parameters: {} };
  const { path, secret } = await caller.must(user, 'PUT', '/triggers/t1', settings);
  const fire = async (id: string, body = '{}', key = secret) => {
    const now = new Date(systemClock.now());
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(key).sign(id, now, body),
    };
    const answer = await fetch(`${fleet.baseUrl}${path}`, { method: 'POST', headers, body });
    return { status: answer.status, body: (await answer.json()) as { execution_id: string } };
  };
  const first = await fire('m1');
  expect([first.status, first.body]).toEqual([201, { execution_id: expect.any(String) }]);
  expect((await fire('m1')).body).toEqual(first.body);
  expect(await caller.must(user, 'GET', `/executions/${first.body.execution_id}`)).toMatchObject({
    created_by: 'user1',
    workflow_id: 'install',
  });
  const wrong = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  expect((await fire('m2', '{}', wrong)).status).toBe(401);
  await eventually(async () => {
    const { status } = await caller.must(user, 'GET', `/executions/${first.body.execution_id}`);
    expect(status).toBe('terminated');
  });
  await caller.must(caller.admin, 'DELETE', '/tenants/users', { tenant_name: TENANT, username: 'user1' });
  expect((await fire('m3')).status).toBe(403);
}, 60_000);

test('only managers of the tenant make webhooks', async () => {
  const other = await caller.user('user2', TENANT, 'user');
  const refused = await caller.send(other, 'PUT', '/webhooks/mine', {
    url: 'https://example.com/',
    events: ['*'],
  });
  expect([refused.status, refused.body.error_code]).toEqual([403, 'forbidden_error']);
}, 30_000);

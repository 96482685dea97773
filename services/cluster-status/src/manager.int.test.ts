import { generateKeyPairSync, sign } from 'node:crypto';
import { signedContent } from './adapters/license-file';
import { admin, bob, startCluster } from './testing/cluster-setup';

type Service = Awaited<ReturnType<typeof startCluster>>;
const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();

let service: Service;
let call: Service['call'];
beforeAll(async () => {
  service = await startCluster({
    BATON_EDITION: 'community',
    BATON_LICENSE_KEY: Buffer.from(pem).toString('base64'),
    AMQP_URL: 'amqp://chief:canary-broker@mq.example.org:5673',
    BATON_TASK_RETRIES: '7',
  });
  ({ call } = service);
});
afterAll(() => service.close());

const code = async (answer: ReturnType<Service['call']>) => {
  const { status, body } = await answer;
  return [status, body?.error_code];
};
const reported = async () =>
  (await service.rpc.report({ service: 'gateway', instanceId: 'g', startedAt: '2026-01-01T00:00:00Z' }))
    .maintenance;

describe('maintenance mode', () => {
  it('goes straight to activated when nothing runs; twice is 304', async () => {
    expect((await call('GET', '/maintenance')).body).toEqual({
      status: 'deactivated',
      activated_at: '',
      activation_requested_at: '',
      remaining_executions: null,
      requested_by: '',
    });
    const { body } = await call('POST', '/maintenance/activate');
    expect(body).toMatchObject({ status: 'activated', remaining_executions: null, requested_by: 'admin' });
    expect(Date.parse(body.activated_at)).toBeGreaterThanOrEqual(Date.parse(body.activation_requested_at));
    expect(await reported()).toBe('activated');
    expect((await call('POST', '/maintenance/activate')).status).toBe(304);
    expect((await call('GET', '/maintenance', { api: 'v2.1' })).body.status).toBe('activated');
    expect((await call('POST', '/maintenance/deactivate')).body).toMatchObject({
      status: 'deactivated',
      activated_at: body.activated_at,
      requested_by: 'admin',
    });
    expect((await call('GET', '/maintenance')).body).toMatchObject({ activated_at: '', requested_by: '' });
    expect(await call('POST', '/maintenance/deactivate')).toMatchObject({ status: 304, text: '' });
    expect(await reported()).toBe('deactivated');
  });

  it('waits for what runs, and the loop finishes what nobody asks about', async () => {
    service.running.push({ id: 'e1', status: 'started', deploymentId: '', workflowId: 'create_snapshot' });
    const remaining = [{ id: 'e1', status: 'started', deployment_id: null, workflow_id: 'create_snapshot' }];
    expect((await call('POST', '/maintenance/activate')).body).toMatchObject({
      status: 'activating',
      activated_at: '',
      remaining_executions: remaining,
    });
    await service.tick('settle-maintenance');
    expect(await reported()).toBe('activating');
    expect((await call('POST', '/maintenance/activate')).status).toBe(304);
    service.running.length = 0;
    await service.tick('settle-maintenance');
    expect(await reported()).toBe('activated');
    await call('POST', '/maintenance/deactivate');
  });

  it('a gateway that asks finds it complete once nothing runs; other processes complete nothing', async () => {
    service.running.push({ id: 'e2', status: 'started', deploymentId: '', workflowId: 'create_snapshot' });
    await call('POST', '/maintenance/activate');
    expect(await reported()).toBe('activating');
    service.running.length = 0;
    const worker = { service: 'worker', instanceId: 'w', startedAt: '2026-01-01T00:00:00Z' };
    expect((await service.rpc.report(worker)).maintenance).toBe('activating');
    expect(await reported()).toBe('activated');
    const { rows } = await service.db.pool.query(
      `select envelope->'payload'->>'status' as status from outbox
       where envelope->>'type' = 'cluster-status.maintenance-changed.v1' order by created_at, id`,
    );
    expect(rows.slice(-2)).toEqual([{ status: 'activating' }, { status: 'activated' }]);
    await call('POST', '/maintenance/deactivate');
  });

  it('names the actions that there are', async () => {
    expect((await call('POST', '/maintenance/activat')).body).toMatchObject({
      error_code: 'bad_parameters_error',
      nearest: 'activate',
    });
  });
});

describe('license', () => {
  const license = {
    customer_id: 'c1',
    expiration_date: '01/31/2099',
    license_edition: 'Spire',
    trial: false,
    cloudify_version: null,
    capabilities: ['HA'],
  };
  const fileOf = (content: object, key = pair.privateKey) =>
    `license: ${JSON.stringify(content)}\nsignature: !!binary |\n  ${sign('RSA-SHA256', signedContent({ ...content }), key).toString('base64')}\n`;
  const put = (text: string) => call('PUT', '/license', { text });

  it('takes a signed one, replaces it by the next, and lists one only', async () => {
    expect(await code(call('GET', '/license-check'))).toEqual([400, 'missing_cloudify_license']);
    expect((await put(fileOf(license))).body).toMatchObject({
      ...license,
      expiration_date: '2099-01-31T00:00:00.000Z',
      expired: false,
    });
    const ended = { ...license, customer_id: 'c2', expiration_date: '01/31/2020', trial: true };
    expect((await put(fileOf(ended))).body.expired).toBe(true);
    const list = (await call('GET', '/license?_include=customer_id,expired')).body;
    expect(list.items).toEqual([{ customer_id: 'c2', expired: true }]);
    expect(await code(call('GET', '/license-check'))).toEqual([400, 'expired_cloudify_license']);
    const inDays = { ...ended, expiration_date: '2 days' };
    expect((await put(fileOf(inDays))).body.expired).toBe(false);
    expect(await call('GET', '/license-check')).toMatchObject({ status: 200, body: 'OK' });
  });

  it('refuses what is not signed by the key', async () => {
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    for (const text of [fileOf(license, stranger), fileOf(license).replace('Spire', 'Other')])
      expect(await code(put(text))).toEqual([400, 'unverified_cloudify_license']);
    expect(await code(put(`license: ${JSON.stringify(license)}`))).toEqual([
      400,
      'unverified_cloudify_license',
    ]);
    expect(await code(put('a: [b'))).toEqual([400, 'invalid_yaml_format']);
  });

  it('goes, and leaves room for a customer id of the community', async () => {
    expect((await call('DELETE', '/license')).status).toBe(204);
    expect(await code(call('DELETE', '/license'))).toEqual([404, 'not_found_error']);
    const { body } = await call('POST', '/contacts', {
      json: { first_name: 'A', last_name: 'B', email: 'a@mail.Example.org', is_eula: true },
    });
    expect(body).toEqual({ customer_id: 'COM-example-1' });
    const contact = { first_name: 'A', last_name: 'B', email: 'b@example.org', is_eula: false };
    expect(await code(call('POST', '/contacts', { json: contact }))).toEqual([400, 'bad_parameters_error']);
    const register = () => call('POST', '/license', { json: body });
    expect((await register()).body).toMatchObject({ ...body, license_edition: null, expired: false });
    expect(await code(register())).toEqual([409, 'conflict_error']);
    expect((await call('GET', '/license-check')).status).toBe(200);
  });
});

describe('config', () => {
  it('shows everything with who may do what, or one scope without', async () => {
    const { body } = await call('GET', '/config', { as: bob });
    expect(body.authorization).toEqual({
      roles: [{ id: 1, name: 'sys_admin', type: 'system_role', description: null }],
      permissions: { administrators: ['sys_admin', 'manager'] },
    });
    const secret = body.items.find((item: { name: string }) => item.name === 'ldap_password');
    expect(secret).toMatchObject({ value: '********', admin_only: true });
    const scoped = (await call('GET', '/config?scope=agent')).body;
    expect(scoped.authorization).toBeUndefined();
    expect(scoped.items.map((item: { name: string }) => item.name)).toEqual([
      'broker_port',
      'heartbeat',
      'log_level',
      'max_workers',
      'min_workers',
    ]);
    expect((await call('GET', '/config?scope=nosuch')).body.items).toEqual([]);
  });

  it('sets a value within its schema, for readers of other services too', async () => {
    const put = (value: unknown) => call('PUT', '/config/default_page_size', { json: { value } });
    expect((await put(500)).body).toMatchObject({ value: 500, updater_name: 'admin', scope: 'rest' });
    expect((await call('GET', '/config/rest.default_page_size')).body.value).toBe(500);
    for (const wrong of ['abc', -5, null, {}])
      expect(await code(put(wrong))).toEqual([409, 'conflict_error']);
    expect(await code(call('PUT', '/config/default_page_size', { json: {} }))).toEqual([
      400,
      'bad_parameters_error',
    ]);
    await call('PUT', '/config/task_retry_interval', { json: { value: 2 } });
    const { valuesJson, changed } = await service.rpc.getConfig({ scope: 'workflow' });
    expect(JSON.parse(valuesJson)).toEqual({ subgraph_retries: 0, task_retries: 7, task_retry_interval: 2 });
    expect(changed).toEqual(['task_retry_interval']);
  });

  it('refuses unclear, unknown, fixed and foreign ones', async () => {
    const put = (name: string, o: { force?: boolean; as?: typeof bob } = {}) =>
      call('PUT', `/config/${name}`, { json: { value: '/x', force: o.force }, as: o.as });
    expect(await code(put('max_workers'))).toEqual([409, 'ambiguous_name']);
    expect((await put('defalt_page_size')).body).toMatchObject({
      error_code: 'not_found_error',
      nearest: 'default_page_size',
    });
    expect(await code(put('rest_service_log_path'))).toEqual([409, 'conflict_error']);
    expect((await put('rest_service_log_path', { force: true })).body.value).toBe('/x');
    expect(await code(put('ldap_password', { as: bob }))).toEqual([401, 'unauthorized_error']);
    expect((await put('ldap_password')).body.value).toBe('/x');
    expect((await call('GET', '/config/ldap_password', { as: bob })).body.value).toBe('********');
  });
});

it('a report tells of all services of a process, and its answer whether the configuration is another one', async () => {
  const process = { instanceId: 'p', hostname: 'all-in-one', startedAt: '2026-01-01T00:00:00Z' };
  const others = [
    { ...process, service: 'gateway', checksJson: '{"broker": {"ok": true}}', actsBy: 'activated' },
  ];
  const report = () => service.rpc.report({ ...process, service: 'identity', rssBytes: 7, others });
  const { configRevision } = await report();
  expect((await report()).configRevision).toBe(configRevision);
  await call('PUT', '/config/default_page_size', { json: { value: 501 } });
  expect((await report()).configRevision).not.toBe(configRevision);
  const stored = async () => {
    const { rows } = await service.db.pool.query(
      `select service, checks, rss_bytes::int, acts_by from instances where instance_id = 'p' order by service`,
    );
    return rows;
  };
  expect(await stored()).toEqual([
    { service: 'gateway', checks: { broker: { ok: true } }, rss_bytes: 0, acts_by: 'activated' },
    { service: 'identity', checks: {}, rss_bytes: 7, acts_by: '' },
  ]);
  await service.rpc.report({ ...process, service: 'identity', isLeaving: true, others });
  expect(await stored()).toEqual([]);
});

it('keeps one provider context', async () => {
  const context = { cloudify: { cloudify_agent: { env: { A: '1' } } } };
  const post = (query = '') => call('POST', `/provider/context${query}`, { json: { name: 'own', context } });
  expect((await call('GET', '/provider/context')).body).toMatchObject({ id: 'CONTEXT', context: {} });
  expect(await code(post())).toEqual([409, 'conflict_error']);
  expect(await post('?update=true')).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect((await call('GET', '/provider/context?_include=name,context')).body).toEqual({
    name: 'own',
    context,
  });
});

it('keeps entered nodes of the cluster', async () => {
  const node = {
    hostname: 'entered',
    private_ip: '10.0.0.1',
    public_ip: '192.0.2.1',
    version: '1.0.0',
    edition: 'premium',
    distribution: 'debian',
    distro_release: '12',
  };
  const add = () => call('POST', '/managers', { json: node });
  expect((await add()).body).toMatchObject({ ...node, networks: { default: '10.0.0.1' } });
  expect(await code(add())).toEqual([409, 'conflict_error']);
  const json = { fs_sync_node_id: 'N1' };
  expect((await call('PUT', '/managers/entered', { json })).body).toMatchObject(json);
  expect((await call('GET', '/managers?hostname=entered&_include=hostname')).body).toMatchObject({
    items: [{ hostname: 'entered' }],
    metadata: { pagination: { total: 1 } },
  });
  const { manager } = (await call('GET', '/cluster-status')).body.services;
  expect(manager.nodes.entered).toMatchObject({ status: 'Fail', private_ip: '10.0.0.1' });
  expect((await call('DELETE', '/managers/entered')).status).toBe(204);
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect(await code(call(method, '/managers/entered', method === 'PUT' ? { json } : {}))).toEqual([
      404,
      'not_found_error',
    ]);
});

it('shows broker and database, never a password', async () => {
  const mine = await call('GET', '/brokers');
  expect(mine.body.items[0]).toMatchObject({ host: 'mq.example.org', port: 5673, username: 'chief' });
  const other = await call('GET', '/brokers', { as: bob });
  expect(other.body.items[0]).toMatchObject({ username: null, password: null });
  const operation = await call('GET', '/brokers', { as: { ...admin, executionId: 'e1' } });
  expect(operation.body.items[0]).toMatchObject({ host: 'mq.example.org', username: null, password: null });
  for (const { text } of [mine, other, operation]) expect(text).not.toContain('canary');
  expect((await call('GET', '/db-nodes?_include=host')).body.items).toEqual([{ host: '127.0.0.1' }]);
});

it('/ok follows the services', async () => {
  expect(await call('GET', '/ok')).toMatchObject({ status: 500, text: 'FAIL' });
  const names = [
    'gateway',
    'identity',
    'catalog',
    'deployments',
    'executions',
    'secrets',
    'cluster-status',
    'worker',
  ];
  const checksJson = JSON.stringify({ database: { ok: true }, broker: { ok: true } });
  for (const name of names) {
    const startedAt = '2026-01-01T00:00:00Z';
    await service.rpc.report({ service: name, instanceId: 'x', hostname: 'h', checksJson, startedAt });
  }
  expect(await call('GET', '/ok')).toMatchObject({ status: 200, text: 'OK' });
});

it('v2.1 has its own form of the status, and on the wire of the original that of v3.1', async () => {
  const original = await startCluster({}, 'cloudify');
  try {
    expect((await call('GET', '/status', { api: 'v2.1' })).body).toMatchObject({
      status: 'running',
      services: expect.any(Array),
    });
    const { body } = await original.call('GET', '/status', { api: 'v2.1' });
    expect(body).toEqual((await original.call('GET', '/status')).body);
    expect(Array.isArray(body.services)).toBe(false);
    const maintenance = await original.call('POST', '/maintenance/activate');
    expect(maintenance.body).toMatchObject({ status: 'activated', remaining_executions: [[]] });
    expect((await original.call('GET', '/maintenance')).body.remaining_executions).toBeNull();
  } finally {
    await original.close();
  }
});

import { snapshotTables } from './store/snapshot-tables';
import { aboutJson, enrolHost, signingRequest } from './testing/agent-hosts';
import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
const instances: Record<string, string> = {};
beforeAll(async () => {
  test = await startTestDeployments({
    env: {
      BATON_AGENTS_URL: 'https://manager.example/',
      BATON_AGENTS_NETWORKS: 'dmz=https://10.0.0.1:8443, dmz=https://10.0.0.2:8443,lab=http://lab:8080',
      BATON_AGENT_GRACE: '20m',
    },
  });
  for (const id of ['own', 'other', 'named'])
    instances[id] =
      (await test.create(id)) &&
      (await test.call('GET', `/node-instances?deployment_id=${id}`)).body.items[0].id;
  for (const id of ['own', 'other']) await put(`${id}-agent`, instances[id]!);
});
afterAll(() => test.stop());

const put = (name: string, instance: string, body: object = {}, as = principal('admin')) =>
  test.call(
    'PUT',
    `/agents/${name}`,
    { node_instance_id: instance, state: 'creating', create_rabbitmq_user: false, ...body },
    as,
  );
const enrolment = (name: string, body: object = {}, as = principal('admin')) =>
  test.call('POST', `/agents/${name}/enrolment`, body, as);
const enrol = async (token: string) =>
  test.agents.enrolAgent({ token, signingRequest: await signingRequest(), aboutJson: aboutJson() });
const code = (asked: Promise<unknown>) =>
  asked.then(
    () => 'fine',
    (error: { code: string }) => error.code,
  );
/** The caller with the token of an execution, as the gateway makes it. */
const execution = (id: string) => principal('bob', { authMethod: 'execution_token', executionId: id });

it('answers a token, addresses of the network, and a script that waits behind a link until the token is used', async () => {
  const { status, body } = await enrolment('own-agent', { network: 'dmz' });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    name: 'own-agent',
    addresses: ['https://10.0.0.1:8443', 'https://10.0.0.2:8443'],
  });
  expect(body.token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(Math.abs(Date.parse(body.expires_at) - Date.now() - 3_600_000)).toBeLessThan(60_000);
  expect(body.script).toContain(body.token);
  // It stands in a JSON text there: line by line.
  for (const line of body.authorities.trim().split('\n')) expect(body.script).toContain(line);
  const [address, link] = body.script_url.split('/agent/v1/install/');
  expect(address).toBe('https://10.0.0.1:8443');
  const read = () => test.agents.readInstallScript({ link });
  expect(await read()).toEqual({ script: body.script, agentName: 'own-agent' });
  // The database has neither the token nor the script.
  const { rows } = await test.db.pool.query('select * from agent_enrolments');
  const stored = rows.map((row) => JSON.stringify(Object.values(row).map(String))).join('');
  for (const secret of [body.token, link, 'BEGIN CERTIFICATE']) expect(stored).not.toContain(secret);
  expect(await code(enrol(link))).toBe('unauthorized_error');
  expect(JSON.parse((await enrol(body.token)).settingsJson).disconnectGraceMs).toBe(1_200_000);
  for (const bad of [link, '', 'x', `${link}x`, '../../etc/passwd', 'A'.repeat(43), body.token])
    expect(await code(test.agents.readInstallScript({ link: bad }))).toBe('not_found_error');
});

it('takes `agent_config` of the host, evaluated; secrets in it are not in the database', async () => {
  test.peers.values.set('app_password', { value: 'hush-hush' });
  test.peers.values.set('login-key', { value: 'key-of-the-login' });
  await test.create('configured', { blueprint_id: 'agent-host' });
  const { items } = (await test.call('GET', '/node-instances?deployment_id=configured')).body;
  await put('configured', items[0].id);
  const { body } = await enrolment('configured', { options: { max_workers: 3 } });
  const { settingsJson, agent } = await enrol(body.token);
  const settings = { maxWorkers: 3, logLevel: 'debug', env: { PASSWORD: 'hush-hush', WHERE: 'here' } };
  expect(JSON.parse(settingsJson)).toMatchObject(settings);
  const { rows } = await test.db.pool.query(`select * from agents where name = 'configured'`);
  expect(JSON.stringify(rows)).not.toContain('hush-hush');
  // Also after the master key has changed; the login of the host is no part of it.
  expect(settingsJson + body.script).not.toContain('key-of-the-login');
  test.peers.masterKeys.unshift('second');
  const serial = rows[0].certificate_serial;
  const shown = { agentId: agent!.agentId, serial, gatewayId: 'g', processId: 'p', aboutJson: aboutJson() };
  expect(JSON.parse((await test.agents.admitAgent(shown)).settingsJson)).toMatchObject(settings);
  test.peers.masterKeys.pop();
  expect(JSON.parse((await test.agents.admitAgent(shown)).settingsJson)).toMatchObject(settings);
  test.peers.masterKeys.splice(0, 1, 'third');
  expect(JSON.parse((await test.agents.admitAgent(shown)).settingsJson).env).toEqual({});
  test.peers.masterKeys.splice(0, 1, 'first');
});

it('takes the default network, and names the others', async () => {
  expect((await enrolment('own-agent')).body.addresses).toEqual(['https://manager.example']);
  expect(await enrolment('own-agent', { network: 'dmzz' })).toMatchObject({
    status: 400,
    body: { field: 'network', nearest: 'dmz', expected: ['dmz', 'lab', 'default'] },
  });
});

it('refuses hosts without agent, names of no agent, and options without end', async () => {
  await put('over-ssh', instances.named!, { install_method: 'ssh' });
  expect(await enrolment('over-ssh')).toMatchObject({
    status: 400,
    body: { error_code: 'illegal_action_error' },
  });
  expect((await enrolment('nosuch')).status).toBe(404);
  expect((await enrolment('own-agent', { options: { env: { A: 'x'.repeat(300_000) } } })).status).toBe(400);
  for (const name of ['..%2Fother', 'a%2Fb', '%2e%2e', 'x:y', 'a%00b'])
    for (const [method, path] of [
      ['PUT', `/agents/${name}`],
      ['POST', `/agents/${name}/enrolment`],
      ['POST', `/agents/${name}/revoke`],
      ['DELETE', `/agents/${name}`],
    ] as const) {
      const body = { node_instance_id: instances.own, state: 'creating', create_rabbitmq_user: false };
      const { status } = await test.call(method, path, method === 'PUT' ? body : {});
      expect([method, name, status >= 400 && status < 500]).toEqual([method, name, true]);
    }
});

it('the token of an execution changes agents of its own deployment only', async () => {
  test.peers.active.set('own', [{ id: 'execution-1', workflow_id: 'install', status: 'started' }]);
  const as = execution('execution-1');
  const theirs = [
    () => put('foreign', instances.other!, {}, as),
    () => test.call('PATCH', '/agents/other-agent', { state: 'started' }, as),
    () => enrolment('other-agent', {}, as),
    () => test.call('DELETE', '/agents/other-agent', undefined, as),
  ];
  for (const ask of theirs)
    expect(await ask()).toMatchObject({ status: 403, body: { error_code: 'forbidden_error' } });
  expect((await put('mine', instances.own!, {}, as)).status).toBe(200);
  expect((await test.call('PATCH', '/agents/mine', { state: 'created' }, as)).status).toBe(200);
  expect((await enrolment('mine', {}, as)).status).toBe(200);
  expect((await test.call('DELETE', '/agents/mine', undefined, as)).body).toEqual({ name: 'mine' });
  expect((await test.call('DELETE', '/agents/mine', undefined, as)).status).toBe(404);
  // The execution has ended: its token opens nothing more.
  test.peers.active.clear();
  expect((await put('mine', instances.own!, {}, as)).status).toBe(403);
});

it('an agent of a private deployment is nothing to others', async () => {
  await test.create('private', { visibility: 'private' });
  const { items } = (await test.call('GET', '/node-instances?deployment_id=private')).body;
  await enrolHost(test, 'hidden', items[0].id);
  const carol = principal('carol');
  for (const [method, path] of [
    ['POST', '/agents/hidden/enrolment'],
    ['POST', '/agents/hidden/revoke'],
    ['DELETE', '/agents/hidden'],
    ['PATCH', '/agents/hidden'],
    ['GET', '/agent-connections/hidden'],
    ['GET', '/agents/hidden'],
  ] as const)
    expect((await test.call(method, path, method === 'GET' ? undefined : {}, carol)).status).toBe(404);
  expect((await put('hidden-too', items[0].id, {}, carol)).status).toBe(404);
  const { body } = await test.call('GET', '/agent-connections', undefined, carol);
  expect(body.items.map(({ name }: { name: string }) => name)).not.toContain('hidden');
});

it('changes are in the audit log, with neither token nor script', async () => {
  await test.db.pool.query('delete from outbox');
  const { body } = await enrolment('own-agent');
  const { rows } = await test.db.pool.query('select envelope from outbox');
  const told = JSON.stringify(rows);
  expect(told).toContain('"route":"enrolAgent"');
  expect(told).not.toContain(body.token);
});

it('after a restore agents are `restored` until they are connected, and tokens are gone', async () => {
  const host = await enrolHost(test, 'travelling', instances.named!);
  expect(Object.keys(snapshotTables.cleared)).toContain('agent_enrolments');
  await test.db.pool.query(`update agents set gateway_id = 'far-away' where name = 'travelling'`);
  const client = await test.db.pool.connect();
  await snapshotTables.afterLoad!(client as never, {} as never);
  client.release();
  const connection = async () => (await test.call('GET', '/agent-connections/travelling')).body;
  expect(await connection()).toMatchObject({ state: 'restored', is_connected: false });
  const about = {
    agentId: host.id,
    serial: host.serial,
    gatewayId: 'here',
    processId: 'p',
    aboutJson: aboutJson(),
  };
  expect((await test.agents.admitAgent(about)).epoch).toBeGreaterThan(1_000_000);
  expect(await connection()).toMatchObject({ state: 'started', is_connected: true });
});

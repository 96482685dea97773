import {
  type Answer,
  principal,
  startTestDeployments,
  type TestDeployments,
} from './testing/test-deployments';

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  test.peers.values.set('token', { value: 'sesame' });
});
afterAll(() => test.stop());

const code = (answer: Answer) => [answer.status, answer.body?.error_code];

describe('creating a deployment', () => {
  it('stores the whole model and answers the object of the contract', async () => {
    const { body } = await test.create('d1', {
      blueprint_id: 'hello',
      inputs: { must: 1, greeting: 'hey' },
      labels: [{ Env: ['prod', 'dev'] }],
      display_name: 'My Dép',
    });
    expect(body).toMatchObject({
      id: 'd1',
      blueprint_id: 'hello',
      display_name: 'My Dép',
      description: 'a host and an app',
      visibility: 'tenant',
      created_by: 'admin',
      inputs: { must: 1, greeting: 'hey', count: 1 },
      installation_status: 'inactive',
      deployment_status: 'requires_attention',
      latest_execution_status: 'completed',
      latest_execution_workflow_id: 'create_deployment_environment',
      unavailable_instances: 2,
      sub_services_count: 0,
      site_name: null,
      environment_type: '',
      groups: { g1: { members: ['app'] } },
    });
    expect(body.create_execution).toBe(body.latest_execution);
    expect(body.labels.map((l: { key: string; value: string }) => `${l.key}=${l.value}`)).toEqual([
      'env=dev',
      'env=prod',
      'from_plan=yes',
    ]);
    expect(body.outputs.said).toEqual({ value: 'hey' });
    const install = body.workflows.find((w: { name: string }) => w.name === 'install');
    expect(install).toMatchObject({ is_available: true, is_cascading: false, plugin: 'default_workflows' });
    expect(body.workflows.find((w: { name: string }) => w.name === 'uninstall').is_available).toBe(false);
    const nodes = await test.call('GET', '/nodes?deployment_id=d1');
    expect(nodes.body.items.map((n: { id: string }) => n.id).sort()).toEqual(['app', 'host']);
    expect(
      nodes.body.items.find((n: { id: string }) => n.id === 'host').operations[
        'cloudify.interfaces.lifecycle.create'
      ],
    ).toMatchObject({
      plugin: 'p',
      operation: 'tasks.create',
      inputs: { text: 'hey', secret: { get_secret: 'token' } },
      has_intrinsic_functions: true,
    });
    const instances = await test.call('GET', '/node-instances?deployment_id=d1&_sort=node_id');
    expect(instances.body.items).toMatchObject([
      {
        node_id: 'app',
        index: 1,
        state: 'uninitialized',
        version: 1,
        scaling_groups: [{ name: 'g1' }],
        relationships: [{ target_name: 'host' }],
      },
      { node_id: 'host', index: 1, state: 'uninitialized', relationships: [] },
    ]);
    const { rows } = await test.db.pool.query(`select envelope from outbox where envelope->>'key' = 'd1'`);
    expect(rows[0].envelope).toMatchObject({
      type: 'deployments.deployment-created.v1',
      payload: {
        deploymentId: 'd1',
        blueprintId: 'hello',
        createExecutionId: body.create_execution,
        createdBy: 'admin',
      },
    });
  });

  it.each([
    ['unknown blueprint', { blueprint_id: 'nosuch' }, 404, 'not_found_error'],
    ['no blueprint', {}, 400, 'bad_parameters_error'],
    ['blueprint that failed', { blueprint_id: 'broken' }, 400, 'deployment_creation_error'],
    ['missing input', { blueprint_id: 'hello' }, 400, 'missing_required_deployment_input_error'],
    [
      'unknown input',
      { blueprint_id: 'hello', inputs: { must: 1, nope: 2 } },
      400,
      'unknown_deployment_input_error',
    ],
    [
      'violated constraint',
      { blueprint_id: 'hello', inputs: { must: 1, count: 9 } },
      400,
      'deployment_creation_error',
    ],
    [
      'input of a wrong type',
      { blueprint_id: 'hello', inputs: { must: 1, count: 'abc' } },
      400,
      'deployment_creation_error',
    ],
    ['inputs that are no object', { blueprint_id: 'hello', inputs: 'x' }, 400, 'bad_parameters_error'],
    ['missing plugin', { blueprint_id: 'needs-plugin' }, 400, 'deployment_plugin_not_found'],
    ['unknown site', { blueprint_id: 'mini', site_name: 'nosuch' }, 404, 'not_found_error'],
    ['bad label key', { blueprint_id: 'mini', labels: [{ 'bad!': 'x' }] }, 400, 'bad_parameters_error'],
    [
      'reserved label',
      { blueprint_id: 'mini', labels: [{ 'csys-consumer-id': 'x' }] },
      400,
      'bad_parameters_error',
    ],
    [
      'unknown parent',
      { blueprint_id: 'mini', labels: [{ 'csys-obj-parent': 'nosuch' }] },
      400,
      'deployment_creation_error',
    ],
    ['wider than its blueprint', { blueprint_id: 'private-bp' }, 403, 'forbidden_error'],
    ['unknown visibility', { blueprint_id: 'mini', visibility: 'rubbish' }, 400, 'bad_parameters_error'],
  ])('refuses: %s', async (_what, body, status, error) => {
    expect(code(await test.call('PUT', '/deployments/refused', body))).toEqual([status, error]);
    expect((await test.call('GET', '/deployments/refused')).status).toBe(404);
  });

  it('refuses a second one of the same id, a bad id, and a secret that is missing', async () => {
    expect(code(await test.call('PUT', '/deployments/d1', { blueprint_id: 'mini' }))).toEqual([
      409,
      'conflict_error',
    ]);
    expect(code(await test.call('PUT', '/deployments/bad%20name', { blueprint_id: 'mini' }))).toEqual([
      400,
      'bad_parameters_error',
    ]);
    test.peers.values.delete('token');
    const refused = await test.call('PUT', '/deployments/nosecret', {
      blueprint_id: 'hello',
      inputs: { must: 1 },
    });
    test.peers.values.set('token', { value: 'sesame' });
    expect(code(refused)).toEqual([400, 'unknown_deployment_secret_error']);
  });

  it('skips the plugin check when asked, and is active at once without node instances', async () => {
    await test.create('skipped', { blueprint_id: 'needs-plugin', skip_plugins_validation: true });
    const { body } = await test.create('nothing', { blueprint_id: 'empty' });
    expect(body).toMatchObject({ installation_status: 'active', deployment_status: 'good' });
  });

  it('lets one of two racing creations win and asks the catalog for a plan once', async () => {
    const before = test.catalog.plansSent();
    const answers = await Promise.all(
      [1, 2, 3].map(() => test.call('PUT', '/deployments/race', { blueprint_id: 'mini' })),
    );
    expect(answers.map((a) => a.status).sort()).toEqual([201, 409, 409]);
    expect(test.catalog.plansSent() - before).toBeLessThanOrEqual(3);
    const sent = test.catalog.plansSent();
    await test.create('race2');
    expect(test.catalog.plansSent()).toBe(sent);
  });
});

describe('reading', () => {
  it('takes a constant number of statements per list, whatever the page holds', async () => {
    for (const id of ['listed1', 'listed2', 'listed3', 'listed4', 'listed5', 'listed6'])
      await test.create(id);
    const count = async (path: string) => {
      const before = test.statements();
      const answer = await test.call('GET', path);
      expect(answer.status).toBe(200);
      return { statements: test.statements() - before, items: answer.body.items.length };
    };
    await count('/deployments');
    const one = await count('/deployments?_size=1');
    const all = await count('/deployments?_size=100');
    expect(all.items).toBeGreaterThan(5);
    expect(all.statements).toBe(one.statements);
    expect(all.statements).toBeLessThanOrEqual(2);
    expect((await count('/deployments?_include=id,created_by')).statements).toBe(1);
    expect((await count('/nodes?_size=100')).statements).toBeLessThanOrEqual(2);
    expect((await count('/node-instances?_size=100')).statements).toBe(1);
  });

  it('answers only what _include names, sorts by a label, finds by id and display name', async () => {
    const one = await test.call('GET', '/deployments/d1?_include=id,inputs');
    expect(one.body).toEqual({ id: 'd1', inputs: { must: 1, greeting: 'hey', count: 1 } });
    expect(code(await test.call('GET', '/deployments/d1?_include=nope'))).toEqual([
      400,
      'no_such_include_field_error',
    ]);
    const found = await test.call(
      'GET',
      '/deployments?_search=skip&_search_name=D%C3%A9p&_include=id&_sort=label:env',
    );
    expect(found.body.items.map((d: { id: string }) => d.id).sort()).toEqual(['d1', 'skipped']);
    expect((await test.call('GET', '/deployments?id=d1')).body.metadata.pagination).toEqual({
      total: 1,
      offset: 0,
      size: 1000,
    });
  });

  it('answers v2.1 in its own fields and times', async () => {
    const { body } = await test.call('GET', '/api/v2.1/deployments/d1');
    expect(Object.keys(body).sort()).toEqual([
      'blueprint_id',
      'created_at',
      'groups',
      'id',
      'inputs',
      'outputs',
      'policy_triggers',
      'policy_types',
      'updated_at',
      'workflows',
    ]);
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/);
    expect(
      (await test.call('GET', '/api/v2.1/node-instances?deployment_id=d1')).body.items[0].tenant_name,
    ).toBeUndefined();
    await test.call('PUT', '/api/v2.1/deployments/old', { blueprint_id: 'mini' });
    const deleted = await test.call('DELETE', '/api/v2.1/deployments/old', { ignore_live_nodes: true });
    expect([deleted.status, deleted.body.id]).toEqual([200, 'old']);
  });

  it('hides private deployments from others and shows global ones in other tenants', async () => {
    await test.create('secret-one', { visibility: 'private' });
    await test.create('for-all', { blueprint_id: 'global-bp', visibility: 'global' });
    const bob = principal('bob');
    const foreign = principal('carol', { tenant: 't2' });
    expect((await test.call('GET', '/deployments/secret-one', undefined, bob)).status).toBe(404);
    expect((await test.call('GET', '/deployments?id=secret-one', undefined, bob)).body.items).toEqual([]);
    expect((await test.call('GET', '/deployments?_include=id', undefined, foreign)).body.items).toEqual([
      { id: 'for-all' },
    ]);
    expect(code(await test.call('PATCH', '/deployments/for-all', { display_name: 'x' }, foreign))).toEqual([
      400,
      'illegal_action_error',
    ]);
    expect(code(await test.call('PUT', '/deployments/for-all', { blueprint_id: 'mini' }, foreign))).toEqual([
      409,
      'conflict_error',
    ]);
  });
});

describe('changing', () => {
  it('replaces labels, keeping what stays, and refuses an empty body', async () => {
    const before = (await test.call('GET', '/deployments/d1')).body.labels;
    const { body } = await test.call('PATCH', '/deployments/d1', {
      labels: [{ env: 'prod' }, { CamelKey: 'CamelValue' }],
    });
    expect(body.labels.map((l: { key: string; value: string }) => `${l.key}=${l.value}`)).toEqual([
      'camelkey=CamelValue',
      'env=prod',
    ]);
    const kept = (labels: { key: string; value: string; created_at: string }[]) =>
      labels.find((l) => l.key === 'env' && l.value === 'prod')!.created_at;
    expect(kept(body.labels)).toBe(kept(before));
    expect(code(await test.call('PATCH', '/deployments/d1', {}))).toEqual([400, 'illegal_action_error']);
    expect(
      code(await test.call('PATCH', '/deployments/d1', { labels: [{ 'csys-obj-parent': 'd1' }] })),
    ).toEqual([409, 'conflict_error']);
    expect(
      code(await test.call('PATCH', '/deployments/d1', { labels: [{ 'csys-obj-parent': 'nosuch' }] })),
    ).toEqual([404, 'deployment_parent_not_found_error']);
    expect(code(await test.call('PATCH', '/deployments/d1', { blueprint_id: 'mini' }))).toEqual([
      403,
      'only_deployment_update',
    ]);
    expect((await test.call('GET', '/labels/deployments?_search=amel')).body.items).toEqual(['camelkey']);
    expect((await test.call('GET', '/labels/deployments/env')).body.items).toEqual(['prod']);
    const badKey = await test.call('GET', '/labels/deployments/no%20key');
    expect(code(badKey)).toEqual([400, 'bad_parameters_error']);
  });

  it('sets a site, and survives its deletion and renaming', async () => {
    await test.call('PUT', '/sites/s1', { location: '1,2' });
    expect((await test.call('POST', '/deployments/d1/set-site', { site_name: 's1' })).body.site_name).toBe(
      's1',
    );
    await test.call('POST', '/sites/s1', { new_name: 's2' });
    expect((await test.call('GET', '/deployments?site_name=s2&_include=id')).body.items).toEqual([
      { id: 'd1' },
    ]);
    expect(code(await test.call('POST', '/deployments/d1/set-site', {}))).toEqual([
      400,
      'bad_parameters_error',
    ]);
    expect(
      code(await test.call('POST', '/deployments/d1/set-site', { site_name: 's2', detach_site: true })),
    ).toEqual([400, 'bad_parameters_error']);
    expect((await test.call('DELETE', '/sites/s2')).status).toBe(204);
    expect((await test.call('GET', '/deployments/d1?_include=site_name')).body).toEqual({ site_name: null });
  });

  it('widens visibility only, and not beyond the blueprint', async () => {
    expect(
      code(await test.call('PATCH', '/deployments/d1/set-visibility', { visibility: 'global' })),
    ).toEqual([400, 'illegal_action_error']);
    expect(
      code(await test.call('PATCH', '/deployments/d1/set-visibility', { visibility: 'private' })),
    ).toEqual([400, 'bad_parameters_error']);
    expect(
      (await test.call('PATCH', '/deployments/secret-one/set-visibility', { visibility: 'tenant' })).body
        .visibility,
    ).toBe('tenant');
    expect(
      code(await test.call('PATCH', '/deployments/for-all/set-visibility', { visibility: 'tenant' })),
    ).toEqual([400, 'illegal_action_error']);
  });
});

describe('parents', () => {
  it('counts and sums up descendants, labels the parent, and blocks its deletion', async () => {
    await test.create('env', { blueprint_id: 'empty', labels: [{ 'csys-obj-type': 'environment' }] });
    await test.create('middle', {
      blueprint_id: 'empty',
      labels: [{ 'csys-obj-parent': 'env' }, { 'csys-obj-type': 'environment' }],
    });
    await test.create('leaf', { labels: [{ 'csys-obj-parent': 'middle' }] });
    const env = (await test.call('GET', '/deployments/env')).body;
    expect(env).toMatchObject({
      sub_services_count: 1,
      sub_environments_count: 1,
      sub_services_status: 'requires_attention',
      deployment_status: 'requires_attention',
      has_sub_deployments: true,
    });
    expect((await test.call('GET', '/deployments/env?all_sub_deployments=false')).body).toMatchObject({
      sub_services_count: 0,
      sub_environments_count: 1,
    });
    expect(env.labels).toContainEqual(expect.objectContaining({ key: 'csys-consumer-id', value: 'middle' }));
    expect(
      code(await test.call('PATCH', '/deployments/env', { labels: [{ 'csys-obj-parent': 'leaf' }] })),
    ).toEqual([409, 'conflict_error']);
    const refused = await test.call('DELETE', '/deployments/env');
    expect(code(refused)).toEqual([400, 'dependent_exists_error']);
    expect(refused.body.dependents).toEqual(['middle']);
    await test.call('PATCH', '/deployments/leaf', { labels: [] });
    expect((await test.call('GET', '/deployments/env')).body).toMatchObject({
      sub_services_count: 0,
      deployment_status: 'good',
      sub_services_status: null,
    });
  });
});

describe('deleting', () => {
  it('checks live instances and active executions, starts the execution, and goes when that has ended', async () => {
    const { create_execution: createExecutionId } = (await test.create('gone')).body;
    const [instance] = (await test.call('GET', '/node-instances?deployment_id=gone')).body.items;
    await test.call('PATCH', `/node-instances/${instance.id}`, { version: 1, state: 'started' });
    expect(code(await test.call('DELETE', '/deployments/gone'))).toEqual([400, 'dependent_exists_error']);
    test.peers.active.set('gone', [{ id: 'e', workflow_id: 'install', status: 'started' }]);
    expect(code(await test.call('DELETE', '/deployments/gone?force=true'))).toEqual([
      400,
      'dependent_exists_error',
    ]);
    test.peers.active.delete('gone');
    expect((await test.call('DELETE', '/deployments/gone?force=true&delete_logs=true')).status).toBe(204);
    expect(test.peers.started.at(-1)).toMatchObject({
      deploymentId: 'gone',
      workflowId: 'delete_deployment_environment',
      isSystemWorkflow: true,
    });
    expect((await test.call('GET', '/deployments/gone')).status).toBe(200);
    const facts = await test.rpc.getDeployment({ tenant: 'default_tenant', deploymentId: 'gone' });
    expect(facts.madeBy).toBe(createExecutionId);
    const ended = {
      tenant: 'default_tenant',
      deploymentId: 'gone',
      executionId: 'e2',
      workflowId: 'delete_deployment_environment',
      status: 'terminated',
    };
    await test.rpc.executionEnded(ended);
    await test.rpc.executionEnded(ended);
    expect((await test.call('GET', '/deployments/gone')).status).toBe(404);
    expect((await test.call('GET', '/node-instances?deployment_id=gone')).body.items).toEqual([]);
    const { rows } = await test.db.pool.query(
      `select envelope from outbox where envelope->>'type' = 'deployments.deployment-deleted.v1'`,
    );
    expect(rows.map((r) => r.envelope.payload)).toEqual([
      { deploymentId: 'gone', deleteLogs: true, createExecutionId },
    ]);
  });
});

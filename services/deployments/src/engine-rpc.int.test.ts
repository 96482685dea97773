import { nodesOfModel } from '@baton/contracts';
import { sql } from 'kysely';
import { deployHello, readInstance, stateWrite } from './testing/hello';
import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
const tenant = 'default_tenant';

interface ModelNode {
  id: string;
  properties: object;
  relationships: object[];
  operations: Record<string, { operation: string }>;
}

beforeAll(async () => {
  test = await startTestDeployments();
  test.peers.values.set('token', { value: 'sesame', isHidden: true });
});
afterAll(() => test.stop());

const deploy = (id: string) => deployHello(test, id);
const read = (id: string) => readInstance(test, id);

describe('OpenOperation', () => {
  it('shows pending states and evaluates inputs for the creator of the execution', async () => {
    const { deploymentId, host, app } = await deploy('opened');
    const base = { tenant, deploymentId, executionId: 'e1', hasFunctions: true };
    const inputs = {
      secret: { get_secret: 'token' },
      own: { get_attribute: ['SELF', 'node_instance_id'] },
      said: { get_input: 'greeting' },
    };
    const opened = await test.rpc.openOperation({
      ...base,
      nodeInstanceId: host,
      username: 'admin',
      inputsJson: JSON.stringify(inputs),
      states: [stateWrite(host, 1, 'creating')],
    });
    expect(JSON.parse(opened.inputsJson)).toEqual({ secret: 'sesame', own: host, said: 'hello' });
    expect(JSON.parse(opened.selfJson)).toMatchObject({
      node: { id: 'host', type: 'cloudify.nodes.Root' },
      instance: { id: host, state: 'creating', version: 2, index: 1 },
    });
    expect(JSON.parse(opened.deploymentJson)).toMatchObject({
      id: deploymentId,
      creator: 'admin',
      blueprint_id: 'hello',
    });
    const related = {
      target: { get_attribute: ['TARGET', 'node_instance_id'] },
      source: { get_attribute: ['SOURCE', 'node_instance_id'] },
    };
    const both = await test.rpc.openOperation({
      ...base,
      nodeInstanceId: app,
      relatedInstanceId: host,
      isSource: true,
      inputsJson: JSON.stringify(related),
    });
    expect(JSON.parse(both.inputsJson)).toEqual({ target: host, source: app });
    expect(JSON.parse(both.relatedJson).instance.id).toBe(host);
    await expect(
      test.rpc.openOperation({
        ...base,
        nodeInstanceId: host,
        username: 'bob',
        inputsJson: JSON.stringify(inputs),
      }),
    ).rejects.toMatchObject({ code: 'forbidden_error' });
  });
});

describe('UpdateNodeInstance', () => {
  it('is not disturbed by states, but by another writer; a repeat is answered as before', async () => {
    const { deploymentId, host } = await deploy('written');
    const write1 = {
      tenant,
      nodeInstanceId: host,
      version: 1,
      runtimePropertiesJson: '{"a":1}',
      taskId: 't1',
      attempt: 1,
    };
    await test.rpc.applyExecutionStates({
      executions: [
        {
          tenant,
          deploymentId,
          executionId: 'e1',
          states: [stateWrite(host, 1, 'creating')],
        },
      ],
    });
    const first = await test.rpc.updateNodeInstance(write1);
    expect(await test.rpc.updateNodeInstance(write1)).toEqual(first);
    await expect(test.rpc.updateNodeInstance({ ...write1, taskId: 't2' })).rejects.toMatchObject({
      code: 'conflict_error',
    });
    await test.rpc.updateNodeInstance({
      ...write1,
      version: first.version,
      attempt: 2,
      runtimePropertiesJson: '{"a":2}',
    });
    await expect(test.rpc.updateNodeInstance({ ...write1, version: 99, attempt: 1 })).rejects.toMatchObject({
      code: 'stale_attempt_error',
    });
    expect(await read(host)).toMatchObject({ runtime_properties: { a: 2 }, state: 'creating' });
  });

  it('stores what any operation may write, and it can be read by all that ask', async () => {
    const { deploymentId, host, app } = await deploy('odd');
    await sql`update node_instances set host_id = ${host} where id = ${app}`.execute(test.db.query);
    const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const write = { tenant, nodeInstanceId: host, version: 1, taskId: 't1', attempt: 1 };
    const odd =
      '{"nul":"a\\u0000b","half":"\\ud800","whole":"\\ud83d\\ude00","ip":"10.0.0.1","\\u0000":1,"__proto__":{"x":1}}';
    const { version } = await test.rpc.updateNodeInstance({ ...write, runtimePropertiesJson: odd });
    // The same write again, as after a lost answer.
    expect(await test.rpc.updateNodeInstance({ ...write, runtimePropertiesJson: odd })).toEqual({ version });
    expect(JSON.stringify((await read(host)).runtime_properties)).toBe(
      '{"nul":"a\ufffdb","half":"\ufffd","whole":"😀","ip":"10.0.0.1","\ufffd":1,"__proto__":{"x":1}}',
    );
    const opened = await test.rpc.openOperation({
      ...{ tenant, deploymentId, executionId: 'e1', hasFunctions: true, nodeInstanceId: app },
      inputsJson: JSON.stringify({ ip: { get_attribute: [host.split('_')[0], 'ip'] } }),
      states: [],
    });
    expect(JSON.parse(opened.selfJson).instance.host_ip).toBe('10.0.0.1');
    await test.rpc.updateNodeInstance({ ...write, version, runtimePropertiesJson: deep(3000) });
    expect(JSON.stringify((await read(host)).runtime_properties)).toBe(deep(3000));
    await expect(
      test.rpc.updateNodeInstance({ ...write, version: version + 1, runtimePropertiesJson: deep(200_000) }),
    ).rejects.toMatchObject({
      code: 'bad_parameters_error',
      message: expect.stringContaining('cannot be stored'),
    });
    for (const runtimePropertiesJson of ['', '[1]', '"x"', 'null'])
      await expect(test.rpc.updateNodeInstance({ ...write, runtimePropertiesJson })).rejects.toMatchObject({
        code: 'bad_parameters_error',
        message: 'Runtime properties must be a dictionary',
      });
  });

  it('lets one of two racing writers win', async () => {
    const { host } = await deploy('raced');
    const results = await Promise.allSettled(
      [1, 2].map((n) =>
        test.rpc.updateNodeInstance({
          tenant,
          nodeInstanceId: host,
          version: 1,
          runtimePropertiesJson: `{"by":${n}}`,
          taskId: `t${n}`,
          attempt: 1,
        }),
      ),
    );
    expect(results.map((r) => r.status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('PATCH of a node instance', () => {
  it('follows the version rules', async () => {
    const { host } = await deploy('patched');
    const patch = async (body: unknown, query = '') => {
      const answer = await test.call('PATCH', `/node-instances/${host}${query}`, body);
      return answer.status === 200 ? answer.body.version : answer.body.error_code;
    };
    expect(await patch({ version: 1, state: 'creating' })).toBe(2);
    expect(await patch({ version: 1, state: 'created' })).toBe('conflict_error');
    expect(await patch({ version: 2, runtime_properties: { b: { c: [1] } } })).toBe(3);
    expect(await patch({ version: 13, state: 'any text' })).toBe(4);
    expect(await patch({ version: 1, state: 'started' }, '?force=true')).toBe(5);
    expect(await patch({ state: 'started' })).toBe('bad_parameters_error');
    expect(await patch({ version: 5, runtime_properties: 'x' })).toBe('bad_parameters_error');
    expect(await patch({ version: 5, relationships: [] })).toBe('only_deployment_update');
    expect(await read(host)).toMatchObject({ state: 'started', runtime_properties: { b: { c: [1] } } });
    expect(
      (await test.call('PATCH', `/api/v2.1/node-instances?id=${host}`, { version: 5, state: 'x' })).body
        .version,
    ).toBe(6);
  });

  it('by an agent is held to the instances of its operation', async () => {
    const { deploymentId, host, app } = await deploy('agent-patched');
    const other = await deploy('agent-other');
    const as = (...agentInstances: string[]) =>
      principal('admin', { executionId: 'e', agentDeploymentId: deploymentId, agentInstances });
    const body = { version: 1, runtime_properties: { by: 'agent' } };
    const patch = (id: string, by = as(app)) => test.call('PATCH', `/node-instances/${id}`, body, by);
    const refused = await patch(host);
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining(host)]);
    const { agentInstances: _, ...unnamed } = as(app);
    expect((await patch(app, unnamed)).status).toBe(403);
    expect((await patch(other.host, as(app, other.host))).status).toBe(403);
    expect((await test.call('GET', `/node-instances/${host}`, undefined, as(app))).status).toBe(200);
    expect((await read(host)).runtime_properties).toEqual({});
    expect((await patch(app)).status).toBe(200);
    expect((await read(app)).runtime_properties).toEqual({ by: 'agent' });
  });

  it.each(['a\u0000b', '\ud800'])('refuses text that cannot be stored: %j', async (text) => {
    const { host } = await deploy(`unstorable-${text.length}`);
    const patch = { version: 1, runtime_properties: { list: [text] } };
    expect(await test.call('PATCH', `/node-instances/${host}`, patch)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('cannot be stored'), error_code: 'bad_parameters_error' },
    });
  });

  it('lets one of two racing patches of a version win', async () => {
    const { host } = await deploy('patch-race');
    const answers = await Promise.all(
      [1, 2].map((n) =>
        test.call('PATCH', `/node-instances/${host}`, { version: 1, runtime_properties: { n } }),
      ),
    );
    expect(answers.map((a) => a.status).sort()).toEqual([200, 409]);
  });
});

describe('statuses', () => {
  it('follow the latest execution, and installation at its end', async () => {
    const { deploymentId, host, app } = await deploy('followed');
    const show = async () =>
      (
        await test.call(
          'GET',
          `/deployments/${deploymentId}?_include=latest_execution_status,installation_status,deployment_status,latest_execution_workflow_id`,
        )
      ).body;
    const [consumer] = test.parts.consumers;
    const executionId = 'ffffffff-0000-7000-8000-000000000001';
    const requested = {
      id: 'm',
      type: 'x',
      time: '2026-01-01T00:00:00.000Z',
      tenant,
      key: executionId,
      payload: { executionId, deploymentId, workflowId: 'install' },
    };
    await consumer!.handler(requested, new AbortController().signal);
    expect(await show()).toEqual({
      latest_execution_status: 'in_progress',
      installation_status: 'inactive',
      deployment_status: 'in_progress',
      latest_execution_workflow_id: 'install',
    });
    await test.rpc.applyExecutionStates({
      executions: [
        {
          tenant,
          deploymentId,
          executionId,
          states: [stateWrite(host, 1, 'started'), stateWrite(app, 2, 'started')],
        },
      ],
    });
    await test.rpc.executionEnded({
      tenant,
      deploymentId,
      executionId,
      workflowId: 'install',
      status: 'terminated',
      totalOperations: 4,
      finishedOperations: 4,
    });
    const good = {
      latest_execution_status: 'completed',
      installation_status: 'active',
      deployment_status: 'good',
      latest_execution_workflow_id: 'install',
    };
    expect(await show()).toEqual(good);
    await consumer!.handler(requested, new AbortController().signal);
    expect(await show()).toEqual(good);
    const resumed = (time: string) => ({
      ...requested,
      time,
      payload: { ...requested.payload, isResumed: true },
    });
    await consumer!.handler(resumed('2020-01-01T00:00:00.000Z'), new AbortController().signal);
    expect(await show()).toEqual(good);
    await consumer!.handler(resumed('2100-01-01T00:00:00.000Z'), new AbortController().signal);
    expect((await show()).latest_execution_status).toBe('in_progress');
    await test.rpc.executionEnded({
      tenant,
      deploymentId,
      executionId,
      workflowId: 'install',
      status: 'terminated',
    });
    // An older execution that ends later does not become the latest one.
    await test.rpc.executionEnded({
      tenant,
      deploymentId,
      executionId: 'eeeeeeee-0000-7000-8000-000000000001',
      workflowId: 'heal',
      status: 'failed',
    });
    expect(await show()).toEqual(good);
    const workflows = (await test.call('GET', `/deployments/${deploymentId}?_include=workflows`)).body
      .workflows;
    expect(workflows.find((w: { name: string }) => w.name === 'install').is_available).toBe(false);
  });
});

describe('ends of executions at the same moment', () => {
  it('are all noted, whichever of them cannot be', async () => {
    const names = ['ends-1', 'ends-2', 'ends-3', 'ends-4'];
    const made = [];
    for (const name of names) made.push(await deploy(name));
    const end = ({ deploymentId }: { deploymentId: string }, i: number) =>
      test.rpc.executionEnded({
        tenant,
        deploymentId,
        executionId: `ffffffff-0000-7000-8000-00000000000${i}`,
        // PostgreSQL stores no NUL.
        workflowId: i === 2 ? 'install\u0000' : 'install',
        status: 'terminated',
        totalOperations: i,
        finishedOperations: i,
      });
    const ends = await Promise.allSettled(made.map(end));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    const latest = async ({ deploymentId }: { deploymentId: string }) =>
      (await test.call('GET', `/deployments/${deploymentId}?_include=latest_execution_total_operations`)).body
        .latest_execution_total_operations;
    expect([await latest(made[0]!), await latest(made[1]!), await latest(made[3]!)]).toEqual([0, 1, 3]);
  });
});

describe('model for workflows', () => {
  it('is complete, and facts name who depends on the deployment', async () => {
    const { deploymentId, host } = await deploy('prov');
    await test.create('cons', { blueprint_id: 'consumer', inputs: { provider: 'prov' } });
    const model = await test.rpc.getWorkflowModel({ tenant, deploymentId });
    const nodes = nodesOfModel<ModelNode>(model.nodesJson, model.definitionsJson);
    expect(nodes.map(({ id }) => id)).toEqual(['host', 'app']);
    expect(nodes[1]!.relationships[0]).toMatchObject({
      target_id: 'host',
      type_hierarchy: expect.any(Array),
    });
    expect(JSON.parse(model.nodeInstancesJson)).toHaveLength(2);
    expect(JSON.parse(model.scalingGroupsJson).g1.members).toEqual(['app']);
    const forGraph = await test.rpc.getWorkflowModel({ tenant, deploymentId, forGraph: true });
    const lean = nodesOfModel<ModelNode>(forGraph.nodesJson, forGraph.definitionsJson);
    expect(lean.map(({ id }) => id)).toEqual(['host', 'app']);
    expect(lean[0]!.properties).toEqual(nodes[0]!.properties);
    const implemented = Object.entries(nodes[0]!.operations).filter(([, { operation }]) => operation !== '');
    expect(Object.entries(lean[0]!.operations)).toEqual(implemented);
    const facts = await test.rpc.getDeployment({ tenant, deploymentId, username: 'bob' });
    expect(Object.keys(JSON.parse(facts.workflowsJson))).toContain('install');
    // A dependent that uses a capability and is not installed does not block.
    expect(facts.dependents).toEqual([]);
    await test.db.pool.query(`update deployments set installation_status = 'active' where id = 'cons'`);
    expect((await test.rpc.getDeployment({ tenant, deploymentId })).dependents).toEqual([
      expect.stringContaining('`cons`'),
    ]);
    await test.call('PATCH', `/node-instances/${host}`, {
      version: 1,
      runtime_properties: { ip: '10.0.0.1' },
    });
    expect((await test.call('GET', '/deployments/cons/outputs')).body.outputs).toEqual({
      from_there: 'http://10.0.0.1',
    });
    expect((await test.call('GET', '/deployments/prov/capabilities')).body.capabilities).toEqual({
      address: 'http://10.0.0.1',
    });
    const refused = await test.call('DELETE', '/deployments/prov');
    expect([refused.status, refused.body.error_code, refused.body.dependents]).toEqual([
      400,
      'dependent_exists_error',
      ['cons'],
    ]);
    expect(
      (await test.rpc.listDeploymentsOfBlueprint({ tenant, blueprintId: 'consumer', limit: 10 }))
        .deploymentIds,
    ).toEqual(['cons']);
  });

  it('ListDeploymentsOfBlueprint waits a moment for deployments that are about to go', async () => {
    const list = async () =>
      (await test.rpc.listDeploymentsOfBlueprint({ tenant, blueprintId: 'consumer', limit: 10 }))
        .deploymentIds;
    await test.db.pool.query(`update deployments set deletion = '{"request_id": "r"}' where id = 'cons'`);
    const since = performance.now();
    expect(await list()).toEqual(['cons']);
    expect(performance.now() - since).toBeGreaterThan(1_900);
    const asked = list();
    await test.db.pool.query(`update deployments set blueprint_id = 'other' where id = 'cons'`);
    expect(await asked).toEqual([]);
  });
});

it('ListLatestExecutions tells page by page what deployments of all tenants show', async () => {
  const { deploymentId } = await deploy('latest');
  const executionId = 'ffffffff-0000-7000-8000-000000000001';
  const end = { tenant, deploymentId, executionId, workflowId: 'install', status: 'failed' };
  await test.rpc.executionEnded({ ...end, totalOperations: 0, finishedOperations: 0, lastStateSeq: 0 });
  const found: { deploymentId: string; executionId: string; status: string }[] = [];
  let after = 0;
  do {
    const page = await test.rpc.listLatestExecutions({ after, limit: 2 });
    expect(page.deployments.length).toBeLessThanOrEqual(2);
    found.push(...page.deployments);
    after = page.next;
  } while (after !== 0);
  expect(found.filter((one) => one.deploymentId === deploymentId)).toEqual([
    { tenant, deploymentId, executionId, status: 'failed' },
  ]);
  const { items } = (await test.call('GET', '/deployments')).body;
  expect(found.map((one) => one.deploymentId).sort()).toEqual(
    items.map((one: { id: string }) => one.id).sort(),
  );
});

import { AppError } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { requestExecution } from '../../executions/commands/request-execution';
import { requestedOf } from '../../executions/domain/requested';
import type { StartRequest } from '../../executions/domain/start-request';
import { readExecution } from '../../executions/store/executions.sql';
import { specOperations } from '../../foreign-operations/http/wire-policy';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup, work } from '../../testing/engine-setup';
import { startRequest } from '../../testing/start-request';
import { cancelExecution } from '../commands/cancel-execution';
import { executionGraph } from './execution-graph';

/** Content of GET /executions/{id}/graph before, during and after the run of an execution; a dry run changes nothing. */

const DEADLINE = { deadlineMs: 20_000 };

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

async function ask(deploymentId: string | null, workflowId: string, more: Partial<StartRequest> = {}) {
  const { id } = await requestExecution(
    engine.deps,
    startRequest(deploymentId, { workflowId, mayQueue: true, ...more }),
  );
  return id;
}
const later = { scheduledForMs: Date.parse('2100-01-01T00:00:00Z') };
const rowOf = async (id: string) => (await readExecution(engine.db.query, id))!;
const shown = async (id: string) =>
  executionGraph(engine.deps, await rowOf(id), { ...specOperations, managerName: 'm' });
const ended = (id: string) => eventually(async () => expect((await rowOf(id)).phase).toBe('ended'), DEADLINE);
const statesIn = (graph: { operations: { state: string; type: string }[] } | undefined) =>
  graph?.operations.filter(({ type }) => type === 'RemoteWorkflowTask').map(({ state }) => state);

function deploy(id: string, state = 'uninitialized') {
  const deployment = peerDeployment({ a: [], b: ['a'] });
  for (const instance of deployment.instances) instance.state = state;
  engine.peer.deployments.set(id, deployment);
  return deployment;
}

test('before it begins: every stage with its graph, compiled from the model of now; nothing is stored', async () => {
  deploy('early', 'started');
  const id = await ask('early', 'reinstall', later);
  const plan = await shown(id);
  expect(plan).toMatchObject({ status: 'scheduled', is_planned: true, error: null });
  expect(plan.stages).toEqual(
    ['reinstall-uninstall', 'reinstall-install'].map((name) => ({
      name,
      kind: 'graph',
      call: null,
      state: 'planned',
      error: null,
    })),
  );
  const [, installation] = plan.graphs;
  expect(statesIn(installation)).toEqual(['pending', 'pending', 'pending', 'pending']);
  const known = new Set(installation!.operations.map((operation) => operation.id));
  for (const { dependencies } of installation!.operations)
    for (const on of dependencies) expect(known.has(on)).toBe(true);
  const { rows } = await sql`select 1 from tasks_graphs where execution_id = ${id}`.execute(engine.db.query);
  expect(rows).toEqual([]);
  // The plan shows an error that the run would have, before the run.
  const broken = await ask('early', 'execute_operation', {
    ...later,
    isForced: true,
    workflowId: 'install',
  });
  await cancelExecution(engine.deps, broken, 'cancel');
  await ended(broken);
  expect(await shown(broken)).toMatchObject({
    status: 'cancelled',
    is_planned: false,
    stages: [],
    graphs: [],
  });
});

test('while it runs and afterwards: the stored graph with the states of now', async () => {
  deploy('live');
  const id = await ask('live', 'install');
  await eventually(async () => expect((await rowOf(id)).phase).toBe('running'), DEADLINE);
  const before = await shown(id);
  expect(before).toMatchObject({
    is_planned: false,
    stages: [{ name: 'install', kind: 'graph', state: 'running' }],
  });
  expect(statesIn(before.graphs[0])).toEqual(['sent', 'pending', 'pending', 'pending']);
  const of = (name: string) =>
    before.graphs[0]!.operations.filter((one) => one.operation?.endsWith(`.${name}`));
  expect(
    before.graphs[0]!.operations.filter((one) => one.operation !== undefined && one.operation !== null),
  ).toEqual(before.graphs[0]!.operations.filter((one) => one.type === 'RemoteWorkflowTask'));
  expect([...of('establish'), ...of('preconfigure'), ...of('create')].length).toBeGreaterThan(0);
  // Tasks that only the document of the graph knows are there as well.
  expect(before.graphs[0]!.operations.map((one) => one.type)).toContain('SetNodeInstanceStateTask');
  const { leases } = await engine.client.claimTask({ workerId: 'w', executionId: id, taskId: '', room: 1 });
  const claimed = (await shown(id)).graphs[0]!.operations.find((one) => one.id === leases[0]!.taskId)!;
  expect([claimed.state, claimed.agent_name]).toEqual(['started', 'w']);
  await eventually(async () => {
    await work(engine.client, id, 'w');
    expect((await rowOf(id)).phase).toBe('ended');
  }, DEADLINE);
  const after = await shown(id);
  expect(after.stages).toMatchObject([{ name: 'install', state: 'succeeded' }]);
  expect(after.graphs[0]!.ended).toBe('succeeded');
  expect(new Set(after.graphs[0]!.operations.map((one) => one.state))).toEqual(new Set(['succeeded']));
});

test('workflows without a graph of ours say who carries them out', async () => {
  const { workflows } = deploy('others');
  workflows.own = { plugin: 'script', operation: 'script_runner.tasks.execute_workflow', parameters: {} };
  expect((await shown(await ask('others', 'own', later))).stages).toMatchObject([
    { name: 'own', kind: 'code' },
  ]);
  const wide = { ...later, isSystemWorkflow: true };
  const snapshot = await ask(null, 'create_snapshot', wide);
  expect((await shown(snapshot)).stages).toMatchObject([{ name: 'create_snapshot', kind: 'elsewhere' }]);
});

test('a dry run tells the whole graph, and neither workers nor deployments hear of it', async () => {
  const { instances } = deploy('dry', 'started');
  for (const workflow of ['uninstall', 'reinstall', 'check_status', 'delete_deployment_environment']) {
    const id = await ask('dry', workflow, { isDryRun: true });
    await ended(id);
    expect(await rowOf(id)).toMatchObject({ status: 'terminated', error: '' });
    expect(await work(engine.client, id, 'w')).toEqual([]);
    expect(engine.peer.ended.map((one) => one.executionId)).not.toContain(id);
    const { rows } = await sql`select 1 from instance_states where execution_id = ${id}`.execute(
      engine.db.query,
    );
    expect(rows).toEqual([]);
    if (workflow !== 'reinstall') continue;
    const { graphs } = await shown(id);
    expect(graphs.map((graph) => graph.name)).toEqual(['reinstall-uninstall', 'reinstall-install']);
    expect(graphs[1]!.operations.filter((one) => one.type === 'DryRunLocalWorkflowTask')).toHaveLength(4);
  }
  expect(instances.map((one) => one.state)).toEqual(['started', 'started']);
  expect(engine.peer.calls).toEqual([]);
  const row = { id: 'e', deployment_id: 'dry', workflow_id: 'install', is_dry_run: true };
  expect(requestedOf(row)).toMatchObject({ executionId: 'e', deploymentId: undefined });
});

const SCALE = {
  plugin: 'default_workflows',
  operation: 'cloudify.plugins.workflows.scale_entity',
  parameters: {},
};

test('before it begins: why deployments would refuse a change', async () => {
  deploy('refused', 'started').workflows.scale = SCALE;
  engine.peer.answerCalls(() => {
    throw new AppError('existing_started_deployment_modification_error', 'a started modification: m');
  });
  const parameters = { scalable_entity_name: 'a', delta: 1 };
  const id = await ask('refused', 'scale', { ...later, allowCustomParameters: true, parameters });
  const plan = await shown(id);
  expect(plan).toMatchObject({ is_planned: true, error: 'a started modification: m', graphs: [] });
  expect(plan.stages.map((stage) => stage.name)).toEqual(['scale-start']);
});

test('a dry run of scale and update only asks what would change', async () => {
  engine.peer.calls.length = 0;
  deploy('asked', 'started').workflows.scale = SCALE;
  const made = { id: 'a_2', node_id: 'a', state: 'uninitialized', relationships: [] };
  engine.peer.answerCalls(({ of }) =>
    of?.call === 'update-prepare'
      ? { unsupported: [], steps: ['entity type: node, entity id: nodes:a, action: remove'] }
      : { added: ['a_2'], removed: [], related: [], instances: [made] },
  );
  const custom = { allowCustomParameters: true, isDryRun: true };
  const scale = await ask('asked', 'scale', {
    ...custom,
    parameters: { scalable_entity_name: 'a', delta: 1 },
  });
  await ended(scale);
  const { graphs, stages } = await shown(scale);
  expect(stages.map((stage) => stage.name)).toEqual(['scale-start', 'a_install', 'scale-finish']);
  expect(graphs[0]!.operations.map((one) => one.name)).toContain('install_a_2');
  const update = await ask('asked', 'update', { ...custom, parameters: { update_id: 'u' } });
  await ended(update);
  const { rows } = await sql<{ message: string }>`
    select message from events where execution_id = ${update} and is_log`.execute(engine.db.query);
  expect(rows.map((row) => row.message)).toContainEqual(expect.stringContaining('nodes:a, action: remove'));
  // A set, because both replicas may call deployments.
  expect(new Set(engine.peer.calls.map((one) => `${one.call} ${one.of?.call}`))).toEqual(
    new Set(['rehearse modification-start', 'rehearse update-prepare']),
  );
});

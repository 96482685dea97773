import { executionsRpc, type Principal } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { claimTask } from '../../engine/commands/claim-task';
import { finishTasks } from '../../engine/commands/finish-tasks';
import { requireGraph } from '../../engine/queries/list-operations';
import { requestExecution } from '../../executions/commands/request-execution';
import { executionScope } from '../../executions/queries/list-executions';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { startRequest } from '../../testing/start-request';
import { listClientOperations } from '../queries/client-graphs';
import { changeOperation, createGraph, visibleOperation } from './client-operations';
import { updateStoredOperations } from './update-stored-operations';

const DEADLINE = { deadlineMs: 15_000 };
const TENANT = 'default_tenant';
const NAME = 'cloudify.interfaces.lifecycle.start';
const LINK = 'cloudify.interfaces.relationship_lifecycle.establish';
let engine: EngineSetup;
let execution: string;
const admin: Principal = {
  userId: 0,
  username: 'admin',
  tenant: TENANT,
  role: 'sys_admin',
  roles: [],
  permissions: [],
  tenants: [{ name: TENANT, roles: [] }],
  authMethod: 'token',
  executionId: '',
  isBootstrapAdmin: true,
};

/** An operation in the form in which the original's engine stores it. */
const stored = (id: string, node: string, operation: string, state: string) => ({
  id,
  name: id,
  type: 'RemoteWorkflowTask',
  state,
  dependencies: [],
  parameters: {
    task_kwargs: {
      kwargs: { port: 80, kept: 1, __cloudify_context: { node_name: node, operation: { name: operation } } },
    },
  },
});
const kwargs = async (id: string) => {
  const { parameters } = await visibleOperation(engine.deps, admin, id);
  return (parameters as { task_kwargs: { kwargs: Record<string, unknown> } }).task_kwargs.kwargs;
};

beforeAll(async () => {
  engine = await engineSetup();
  const deployment = peerDeployment({ app: ['db'], db: [] });
  const operation = { plugin: 'probe', operation: 'probe.op', executor: null };
  deployment.nodes[0]!.operations[NAME] = {
    ...operation,
    inputs: { port: 8080, host: { get_attribute: [] } },
  };
  deployment.nodes[0]!.relationships[0]!.target_operations = {
    [LINK]: { ...operation, inputs: { port: 5432 } },
  };
  engine.peer.deployments.set('d', deployment);
  ({ id: execution } = await requestExecution(engine.deps, startRequest('d')));
  await createGraph(engine.deps, admin, {
    name: 'g',
    execution_id: execution,
    operations: [
      stored('waiting', 'app', NAME, 'pending'),
      stored('failed', 'app', NAME, 'failed'),
      stored('done', 'app', NAME, 'succeeded'),
      stored('other-node', 'db', NAME, 'pending'),
      stored('link', 'db', LINK, 'rescheduled'),
      { ...stored('plain', 'app', NAME, 'pending'), parameters: { info: 'x' } },
    ],
  });
}, 60_000);
afterAll(async () => await engine?.stop());

const update = (change: object) =>
  updateStoredOperations(engine.deps, admin, { action: 'update-stored', ...change });

test('operations that may still run get the inputs that their node has now', async () => {
  await update({ deployment_id: 'd', node_id: 'app', operation: NAME });
  for (const id of ['waiting', 'failed'])
    expect(await kwargs(id)).toEqual({
      port: 8080,
      kept: 1,
      host: { get_attribute: [] },
      __cloudify_context: { node_name: 'app', operation: { name: NAME }, has_intrinsic_functions: true },
    });
  for (const id of ['done', 'other-node', 'link']) expect(await kwargs(id)).toMatchObject({ port: 80 });
  expect((await visibleOperation(engine.deps, admin, 'plain')).parameters).toEqual({ info: 'x' });
});

test('the operation at the other end of a relationship belongs to the node there', async () => {
  const link = {
    deployment_id: 'd',
    node_id: 'app',
    operation: LINK,
    rel_index: 0,
    key: 'target_operations',
  };
  await update(link);
  expect(await kwargs('link')).toMatchObject({ port: 5432, kept: 1 });
});

test('what is internal can be left out of a list: all but operations and the subgraphs around them', async () => {
  const types = ['RemoteWorkflowTask', 'SubgraphTask', 'NOPLocalWorkflowTask', 'SendNodeEventTask'];
  await createGraph(engine.deps, admin, {
    name: 'types',
    execution_id: execution,
    operations: types.map((type) => ({ ...stored(type, 'app', NAME, 'pending'), type })),
  });
  const { graph_id: graphId } = await visibleOperation(engine.deps, admin, 'SubgraphTask');
  const typesOf = async (skipInternal: boolean) => {
    const filter = { graphId: graphId!, states: [], skipInternal };
    const found = await listClientOperations(engine.db.query, filter, executionScope(admin, false));
    return found.map(({ type }) => type);
  };
  expect(await typesOf(false)).toEqual(types);
  expect(await typesOf(true)).toEqual(types.slice(0, 2));
});

test('a list asks for a graph that is there', async () => {
  const scope = executionScope(admin, false);
  const { graph_id: graph } = await visibleOperation(engine.deps, admin, 'waiting');
  await requireGraph(engine.db.query, scope, graph);
  const ours = await engine.db.pool.query('select id from tasks_graphs limit 1');
  for (const { id } of ours.rows) await requireGraph(engine.db.query, scope, id);
  for (const id of ['nosuch', newId()])
    await expect(requireGraph(engine.db.query, scope, id)).rejects.toMatchObject({ code: 'not_found_error' });
});

test('without a deployment nothing is to be done; what does not exist is refused', async () => {
  await update({});
  await update({ deployment_id: '' });
  const refusals: [object, string, string?][] = [
    [{ deployment_id: 'nosuch', node_id: 'app', operation: NAME }, 'not_found_error'],
    [{ deployment_id: 'd', node_id: 'nosuch', operation: NAME }, 'not_found_error'],
    [{ deployment_id: 'd', operation: NAME }, 'bad_parameters_error', 'node_id'],
    [{ deployment_id: 'd', node_id: 'app', operation: `${NAME}x` }, 'bad_parameters_error', 'operation'],
    [
      { deployment_id: 'd', node_id: 'app', operation: LINK, rel_index: 4 },
      'bad_parameters_error',
      'rel_index',
    ],
  ];
  for (const [change, code, field] of refusals)
    await expect(update(change)).rejects.toMatchObject({ code, details: field ? { field } : {} });
});

test('a state that a client reports beside the workflow reaches the deployment as well', async () => {
  engine.peer.deployments.set('mixed', peerDeployment({ a: [], b: ['a'], c: ['b'] }, ['create']));
  const { id: executionId } = await requestExecution(engine.deps, startRequest('mixed'));
  const ofWorker = { workerId: 'w1', executionId, taskId: '', room: 1 };
  const [lease] = await eventually(async () => {
    const leases = await claimTask(engine.deps, ofWorker);
    expect(leases).toHaveLength(1);
    return leases;
  }, DEADLINE);
  const report = {
    ...stored('reports', 'c', NAME, 'pending'),
    type: 'SetNodeInstanceStateTask',
    parameters: { task_kwargs: { node_instance_id: 'c_1', state: 'prepared' } },
  };
  await createGraph(engine.deps, admin, { name: 'own', execution_id: executionId, operations: [report] });
  await changeOperation(engine.deps, admin, 'reports', { state: 'succeeded' });
  const { taskId, attempt } = lease!;
  const kind = executionsRpc.OutcomeKind.OUTCOME_KIND_SUCCEEDED;
  const outcome = executionsRpc.TaskOutcome.fromPartial({ executionId, taskId, attempt, kind });
  const { leases } = await finishTasks(engine.deps, {
    workerId: 'w1',
    outcomes: [outcome],
    room: 1,
    readsUntaken: true,
  });
  const instances = () => engine.peer.deployments.get('mixed')!.instances.map(({ state }) => state);
  await eventually(async () => expect(instances()[0]).toBe('started'), DEADLINE);
  expect(leases).toHaveLength(1);
  await eventually(async () => expect(instances()[2]).toBe('prepared'), DEADLINE);
}, 60_000);

import type { JsonObject } from '@baton/kernel';
import type { DeploymentModel, PlanOperation } from '../model';
import { drive, labels } from '../testing/driver';
import { CONFIG, fixture, inputOf } from '../testing/fixture';
import { indexModel } from './model-index';
import { routeOf } from './route';

const AUTO: PlanOperation = { plugin: 'script', operation: 'run', executor: 'auto', inputs: {} };
const COMPUTE = { types: ['cloudify.nodes.Compute'] };

/** A host `host_0` with these properties, and `app_0` on it. */
function hosted(properties: JsonObject): DeploymentModel {
  const model = fixture({ host: { ...COMPUTE, properties }, app: {} });
  for (const instance of model.nodeInstances) instance.host_id = 'host_0';
  return model;
}

function route(properties: JsonObject, op: Partial<PlanOperation> = {}) {
  const model = hosted(properties);
  const app = model.nodeInstances.find(({ id }) => id === 'app_0')!;
  return routeOf(indexModel(model), CONFIG.tenant, { ...AUTO, ...op }, app);
}

const ON_AGENT = { executor: 'host_agent', agent: 'tenant-1/host_0' };

test.each(['remote', 'init_script', 'plugin', 'provided'])(
  'an operation of a host with the install method %s runs on its agent',
  (install_method) => {
    expect(route({ agent_config: { install_method } })).toEqual(ON_AGENT);
    expect(route({ agent_config: { install_method } }, { executor: 'host_agent' })).toEqual(ON_AGENT);
  },
);

test.each([
  ['none', { agent_config: { install_method: 'none' } }],
  ['no agent_config', {}],
  ['an unknown method', { agent_config: { install_method: 'teleport' } }],
  ['a method that is not known yet', { agent_config: { install_method: { get_secret: 'method' } } }],
  ['install_agent false', { install_agent: false, agent_config: { install_method: 'remote' } }],
])('with %s a worker runs it, and the executor keeps its name', (_, properties) => {
  expect(route(properties as JsonObject)).toEqual({ executor: 'host_agent' });
});

test('the old install_agent: true means the method remote', () => {
  expect(route({ install_agent: true })).toEqual(ON_AGENT);
});

test('the install method ssh asks for a worker that goes to the host', () => {
  expect(route({ agent_config: { install_method: 'ssh' } })).toEqual({
    executor: 'host_agent',
    isOverSsh: true,
  });
});

test('a central operation, and one of an instance without a host, stay on workers', () => {
  const remote = { agent_config: { install_method: 'remote' } };
  const central = { executor: 'central_deployment_agent' };
  expect(route(remote, central)).toEqual(central);
  const model = hosted(remote);
  const app = { ...model.nodeInstances[1]!, host_id: null };
  expect(routeOf(indexModel(model), CONFIG.tenant, AUTO, app)).toEqual(central);
});

test('operations of the agent plugin never need the agent that they act on', () => {
  const remote = { agent_config: { install_method: 'init_script' } };
  const stop = { operation: 'cloudify_agent.operations.stop', executor: 'host_agent' };
  expect(route(remote, { ...stop, plugin: 'agent' })).toEqual({ executor: 'host_agent' });
  expect(route(remote, { ...stop, plugin: 'ns--agent' })).toEqual({ executor: 'host_agent' });
  // Another plugin with that name is an ordinary one.
  expect(route(remote, { operation: 'mine.stop', executor: 'host_agent', plugin: 'agent' })).toEqual(
    ON_AGENT,
  );
});

test('service_name names the agent in texts; its address stays that of the host', () => {
  const properties = { agent_config: { install_method: 'remote', service_name: 'web' } };
  expect(route(properties)).toEqual({ ...ON_AGENT, agentName: 'web' });
});

test.each([
  [{ deployment: 'd', node_instance: 'vm_x', tenant: 'other' }, 'other/vm_x'],
  [{ deployment: 'd', node_instance: 'vm_x' }, 'tenant-1/vm_x'],
])('a proxied host uses the agent of %j', (proxy, agent) => {
  expect(route({ agent_config: { install_method: 'none', extra: { proxy } } })).toEqual({
    executor: 'host_agent',
    agent,
  });
});

const AG = 'cloudify.interfaces.cloudify_agent';

test.each(['none', 'ssh'])(
  'with the install method %s the lifecycle leaves agents alone',
  (install_method) => {
    const ops = ['create', 'start', 'stop', 'stop_amqp', 'delete'].map((name) => `${AG}.${name}`);
    const host = { ...COMPUTE, ops, properties: { agent_config: { install_method } } };
    for (const workflow of ['install', 'uninstall']) {
      const state = workflow === 'install' ? 'uninitialized' : 'started';
      const record = drive(workflow, inputOf(workflow, fixture({ host: { ...host, state } })));
      expect(record.error).toBeNull();
      expect(labels(record)).toEqual([]);
      expect(record.events.filter(({ message }) => message.includes('agent'))).toEqual([]);
    }
  },
);

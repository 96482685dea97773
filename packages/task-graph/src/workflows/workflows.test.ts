import type { Json, JsonObject } from '@baton/kernel';
import { drive, labels, ok } from '../testing/driver';
import { fixture, inputOf, type NodeFixture, started } from '../testing/fixture';
import { builtinOf, endWithoutModel, isResumable, nextStage } from './registry';

/** Operations, agents and the registry (reference workflows.md 1.8, 1.14). */

const _CHECK = 'cloudify.interfaces.validation.check_status';
const PARANOID = { isParanoid: true };

describe('execute_operation', () => {
  test('arguments replace declared inputs only when they may', () => {
    const nodes = { a: { ops: ['custom.ping'], inputs: { x: 1, y: { z: 1 } } } };
    const parameters = { operation: 'custom.ping', operation_kwargs: { y: { w: 2 } } };
    const refused = drive('execute_operation', inputOf('execute_operation', started(nodes), parameters));
    expect(refused.error!.message).toMatch(
      /^Duplicate definition of y in operation properties and in kwargs/,
    );
    const seen: unknown[] = [];
    drive(
      'execute_operation',
      inputOf('execute_operation', started(nodes), { ...parameters, allow_kwargs_override: true }),
      {
        run: (p) => {
          seen.push(p.inputs);
          return ok();
        },
      },
    );
    expect(seen).toEqual([{ x: 1, y: { z: 1, w: 2 } }]);
  });

  test.each([
    ['x', 'TypeError'],
    [['x'], 'TypeError'],
    [[], undefined],
    [null, undefined],
    ['', undefined],
  ])('parameters of the operation: %j', (operation_kwargs, error) => {
    const input = inputOf('execute_operation', started({ a: { ops: ['custom.ping'] } }), {
      operation: 'custom.ping',
      operation_kwargs,
    });
    expect(drive('execute_operation', input).error?.type).toBe(error);
  });

  test('order leads over instances that are filtered out, and states stay', () => {
    const ops = ['custom.ping'];
    const model = started({ c: { ops }, b: { ops, rels: ['c'] }, a: { ops, rels: ['b'] } });
    const parameters = { operation: 'custom.ping', run_by_dependency_order: true, node_ids: ['a', 'c'] };
    const record = drive('execute_operation', inputOf('execute_operation', model, parameters), PARANOID);
    expect(labels(record)).toEqual(['ping c', 'ping a']);
    expect(record.stages[0]!.name).toBe('execute_operation_custom.ping');
    expect(model.nodeInstances.map((i) => i.state)).toEqual(['started', 'started', 'started']);
  });
});

describe('agents', () => {
  const AG = 'cloudify.interfaces.cloudify_agent';
  const ops = [`${AG}.validate_amqp`, `${AG}.create_amqp`, 'cloudify.interfaces.monitoring_agent.install'];
  const host = (state: string): NodeFixture => ({
    ops,
    types: ['cloudify.nodes.Compute'],
    properties: { install_agent: true },
    state,
  });

  test('new agents are validated, made, validated again', () => {
    const model = fixture({
      h: host('started'),
      app: { ops: ['cloudify.interfaces.monitoring.start'], rels: [{ to: 'h', contained: true }] },
    });
    const seen: Json[] = [];
    const record = drive('install_new_agents', inputOf('install_new_agents', model, { manager_ip: 'm' }), {
      ...PARANOID,
      run: (p) => {
        seen.push(p.inputs.current_amqp ?? null);
        return ok();
      },
    });
    expect(labels(record)).toEqual([
      'validate_amqp h',
      'create_amqp h',
      'validate_amqp h',
      'install h',
      'start app',
    ]);
    expect(seen.slice(0, 3)).toEqual([false, null, true]);
  });

  test.each([
    [{ h: host('stopped') }, {}, 'RuntimeError', 'Node h_0 is not started (state: stopped)'],
    [
      { a: {} },
      { node_ids: ['a'] },
      'ValueError',
      'Specified filters are not correct:\na_0 is not a host with an agent',
    ],
  ])('refuses %j with %j', (nodes, parameters, type, message) => {
    const record = drive(
      'validate_agents',
      inputOf('validate_agents', fixture(nodes), parameters as JsonObject),
    );
    expect(record.error).toEqual({ type, message });
  });
});

test('a recursive uninstall asks for the deployments below first', () => {
  const record = drive(
    'uninstall',
    inputOf('uninstall', started({ a: { ops: ['stop'] } }), { recursive: true }),
  );
  expect(record.requests).toEqual([
    expect.objectContaining({ call: 'run-on-services', groupId: 'deployment-1_services_uninstall' }),
  ]);
  expect(labels(record)).toEqual(['stop a']);
});

test.each([
  ['default_workflows', 'cloudify.plugins.workflows.install', 'install', true],
  ['default_workflows', 'cloudify.plugins.workflows.auto_heal_reinstall_node_subgraph', 'heal', false],
  ['ns--default_workflows', 'cloudify.plugins.workflows.scale_entity', 'scale', true],
  ['default_workflows', 'cloudify.plugins.workflows.nope', null, false],
  ['mine', 'cloudify.plugins.workflows.install', null, false],
  ['default_workflows', 'script_runner.tasks.execute_workflow', null, false],
])('%s %s maps to %s', (plugin, operation, name, canResume) => {
  expect(builtinOf({ plugin, operation })).toBe(name);
  expect(isResumable(name ?? 'nope')).toBe(canResume);
});

test('start, stop, restart and pull are their lifecycle operations in order of dependency', () => {
  const ops = ['start', 'stop', 'pull'];
  const run = (workflow: string, parameters = {}) =>
    labels(
      drive(
        workflow,
        inputOf(workflow, started({ a: { ops }, b: { ops, rels: ['a'] } }), parameters),
        PARANOID,
      ),
    );
  expect(run('start')).toEqual(['start a', 'start b']);
  expect(run('stop')).toEqual(['stop a', 'stop b']);
  expect(run('pull')).toEqual(['pull a', 'pull b']);
  expect(run('restart')).toEqual(['stop a', 'stop b', 'start a', 'start b']);
});

test('a failed call fails the workflow with its own error', () => {
  const history = [
    { kind: 'call' as const, name: 'uninstall-services', error: { type: 'Timeout', message: 'late' } },
  ];
  const stage = nextStage('uninstall', inputOf('uninstall', fixture({}), { recursive: true }), history);
  expect(stage).toEqual({ kind: 'end', outcome: 'failed', error: { type: 'Timeout', message: 'late' } });
});

test('the end of a workflow of one graph needs no model, a further stage does', () => {
  const { model: _model, ...input } = inputOf('install', fixture({}));
  const ended = (name: string) => [{ kind: 'graph' as const, name, outcome: { kind: 'succeeded' as const } }];
  expect(endWithoutModel('install', input, [])).toBeNull();
  expect(endWithoutModel('install', input, ended('install'))).toEqual({ kind: 'end', outcome: 'succeeded' });
  const failure = { kind: 'failed' as const, error: 'broken', failures: [] };
  const failed = [{ kind: 'graph' as const, name: 'install', outcome: failure }];
  expect(endWithoutModel('install', input, failed)).toMatchObject({ error: { message: 'broken' } });
  expect(endWithoutModel('reinstall', input, ended('reinstall-uninstall'))).toBeNull();
  expect(endWithoutModel('heal', { ...input, parameters: { node_instance_id: 'a_1' } }, [])).toBeNull();
});

test('a stored history that does not fit is an error, an unknown workflow too', () => {
  const input = inputOf('install', fixture({}));
  const odd = nextStage('install', input, [{ kind: 'graph', name: 'other', outcome: { kind: 'succeeded' } }]);
  expect(odd).toMatchObject({ kind: 'end', error: { message: expect.stringContaining('other') } });
  expect(nextStage('nope', input, [])).toMatchObject({ outcome: 'failed' });
});

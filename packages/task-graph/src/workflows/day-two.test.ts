import type { Json, JsonObject } from '@baton/kernel';
import type { DeploymentModel } from '../model';
import { broken, drive, type DriverOptions, labels, ok } from '../testing/driver';
import { fixture, inputOf, type NodeFixture } from '../testing/fixture';
import type { CallRequest, UpdateChanges } from '../workflow';
import { builtinOf, isResumable, nextStage } from './registry';

/** heal, scale, update, checks, rollback, agents (reference workflows.md 1.9 to 1.14, 9). */

const CHECK = 'cloudify.interfaces.validation.check_status';
const PARANOID = { isParanoid: true };

function started(nodes: { [id: string]: NodeFixture }): DeploymentModel {
  for (const node of Object.values(nodes)) node.state ??= 'started';
  return fixture(nodes);
}

function systemOf(model: DeploymentModel, id: string): JsonObject {
  return model.nodeInstances.find((i) => i.id === id)!.system_properties as JsonObject;
}

const stageNames = (record: ReturnType<typeof drive>) => record.stages.map((s) => s.name);

describe('heal', () => {
  const life = ['stop', 'delete', 'create', 'start'];
  const nodes = () => ({ host: { ops: life }, app: { ops: life, rels: [{ to: 'host', contained: true }] }, other: { ops: life } });

  test('an instance named that nothing ever checked is reinstalled with what it contains', () => {
    const model = started(nodes());
    const record = drive('heal', inputOf('heal', model, { node_instance_id: 'host_0' }), PARANOID);
    expect(labels(record)).toEqual([
      ...['stop app', 'delete app', 'stop host', 'delete host'],
      ...['create host', 'start host', 'create app', 'start app'],
    ]);
    expect(stageNames(record)).toEqual(['check_status', 'heal', 'reinstall-uninstall', 'reinstall-install']);
  });

  test('without a name what nothing ever checked counts as healthy', () => {
    expect(drive('heal', inputOf('heal', started(nodes())), PARANOID).calls).toEqual([]);
  });

  test('what fails its check is healed, the target before its source, and counts as fine afterwards', () => {
    const ops = [CHECK, 'heal'];
    const model = started({ a: { ops }, b: { ops, rels: ['a'] } });
    const record = drive('heal', inputOf('heal', model), { ...PARANOID, run: (p) => (p.operation === CHECK ? broken(true) : ok()) });
    expect(labels(record)).toEqual(['check_status a', 'check_status b', 'heal a', 'heal b']);
    expect(systemOf(model, 'b_0').status).toEqual({ ok: true, task: null, healed: true });
    expect(systemOf(model, 'b_0').previous_status).toBeNull();
  });

  test('what cannot be healed is reinstalled, and the mark is taken away', () => {
    const model = started({ a: { ops: [CHECK, 'heal', ...life] } });
    const record = drive('heal', inputOf('heal', model, {}, { taskRetries: 0 }), {
      ...PARANOID,
      run: (p) => (p.operation === CHECK || p.operation.endsWith('heal') ? broken() : ok()),
    });
    expect(stageNames(record)).toEqual(['check_status', 'heal', 'reinstall-uninstall', 'reinstall-install']);
    expect(record.outcome).toBe('succeeded');
    expect(systemOf(model, 'a_0')).not.toHaveProperty('heal_failed');
  });

  test('a reinstall that is not allowed is refused before anything runs', () => {
    const input = inputOf('heal', started(nodes()), { node_instance_id: 'host_0', allow_reinstall: false });
    const record = drive('heal', input, PARANOID);
    expect(record).toMatchObject({ outcome: 'failed', calls: [] });
    expect(record.error!.message).toBe('allow_reinstall is false, but would need to reinstall instances: host_0, app_0');
  });

  test('an unknown instance is an error, a forced reinstall asks nothing', () => {
    expect(nextStage('heal', inputOf('heal', started(nodes()), { node_instance_id: 'x' }), [])).toMatchObject({
      error: { type: 'ValueError', message: 'No node instance with id `x` was found' },
    });
    const input = inputOf('heal', started(nodes()), { node_instance_id: 'other_0', force_reinstall: true });
    expect(labels(drive('heal', input, PARANOID))).toEqual(['stop other', 'delete other', 'create other', 'start other']);
  });

  test('an intact neighbour is unlinked from what goes and linked to what comes, and nothing else of it', () => {
    const both = ['establish', 'unlink'];
    const rels = [{ to: 'n2', source: both, target: both }, { to: 'n3', source: both, target: both }];
    const input = inputOf('heal', started({ n2: {}, n3: {}, n1: { rels } }), { node_instance_id: 'n2_0' });
    expect(labels(drive('heal', input, PARANOID))).toEqual(['unlink n1->n2', 'unlink n1->n2', 'establish n1->n2', 'establish n1->n2']);
  });

  test('order leads over intact instances', () => {
    const target = ['establish', 'unlink'];
    const model = started({
      n1: {},
      n3: { rels: [{ to: 'n1', target }] },
      n2: { ops: ['stop', 'create'], rels: [{ to: 'n1', contained: true }, { to: 'n3' }] },
    });
    const record = drive('heal', inputOf('heal', model, { node_instance_id: 'n1_0' }), PARANOID);
    expect(labels(record)).toEqual(['stop n2', 'unlink n3->n1', 'establish n3->n1', 'create n2']);
  });
});

describe('checks', () => {
  test('a failed status check fails the workflow and keeps what it found', () => {
    const model = started({ a: { ops: [CHECK] }, b: {} });
    systemOf(model, 'a_0').status = { ok: true };
    const record = drive('check_status', inputOf('check_status', model), { ...PARANOID, run: () => broken(true, 'down') });
    expect(record).toMatchObject({ outcome: 'failed', error: { type: 'WorkflowFailed' } });
    expect(labels(record)).toEqual(['check_status a']);
    expect(systemOf(model, 'a_0')).toMatchObject({ status: { ok: false, result: 'down', task: 'probe.op' }, previous_status: { ok: true } });
    expect(systemOf(model, 'b_0')).toEqual({});
  });

  test('an own number of retries holds for status checks too', () => {
    const over = { [CHECK]: { max_retries: 2, retry_interval: 0.01 } };
    const record = drive('check_status', inputOf('check_status', started({ a: { ops: [CHECK], over } })), {
      run: (_, nth) => (nth < 3 ? broken(true) : ok()),
    });
    expect(record).toMatchObject({ outcome: 'succeeded', calls: { length: 3 } });
  });

  test('drift of instances and relationships is kept on the side it belongs to', () => {
    const rels = [{ to: 'a', source: ['check_drift'], target: ['check_drift'] }];
    const model = started({ a: { ops: ['check_drift'] }, b: { ops: ['check_drift'], rels } });
    const record = drive('check_drift', inputOf('check_drift', model), { ...PARANOID, run: (p) => ok(p.relationship?.side ?? 'own') });
    expect(labels(record)).toEqual(['check_drift a', 'check_drift b', 'check_drift b->a', 'check_drift b->a']);
    expect(systemOf(model, 'b_0')).toMatchObject({
      configuration_drift: { ok: true, result: 'own' },
      source_relationships_configuration_drift: { a_0: { result: 'source' } },
    });
    expect(systemOf(model, 'a_0')).toMatchObject({ target_relationships_configuration_drift: { b_0: { result: 'target' } } });
  });

  test('started and configured reset what checks found', () => {
    const model = fixture({ a: { ops: ['configure'] } });
    drive('install', inputOf('install', model), PARANOID);
    expect(systemOf(model, 'a_0')).toMatchObject({ status: { ok: true, task: null }, configuration_drift: { ok: true, result: null } });
  });
});

test('rollback takes half-done instances back and leaves the others', () => {
  const ops = ['prestop', 'stop', 'delete', 'postdelete'];
  const model = fixture({
    a: { ops, state: 'starting', rels: [] },
    b: { ops, state: 'creating' },
    c: { ops, state: 'started' },
  });
  const record = drive('rollback', inputOf('rollback', model), { ...PARANOID, run: () => broken() });
  expect(record.outcome).toBe('succeeded');
  expect(labels(record).sort()).toEqual(['delete b', 'postdelete b', 'prestop a', 'stop a']);
  expect(model.nodeInstances.map((i) => i.state)).toEqual(['configured', 'uninitialized', 'started']);
  const full = drive('rollback', inputOf('rollback', model, { full_rollback: true }), PARANOID);
  expect(stageNames(full)).toEqual(['rollback', 'uninstall-a']);
  expect(model.nodeInstances.every((i) => i.state === 'deleted')).toBe(true);
});

describe('execute_operation', () => {
  test('arguments replace declared inputs only when they may', () => {
    const nodes = { a: { ops: ['custom.ping'], inputs: { x: 1, y: { z: 1 } } } };
    const parameters = { operation: 'custom.ping', operation_kwargs: { y: { w: 2 } } };
    const refused = drive('execute_operation', inputOf('execute_operation', started(nodes), parameters));
    expect(refused.error!.message).toMatch(/^Duplicate definition of y in operation properties and in kwargs/);
    const seen: unknown[] = [];
    drive('execute_operation', inputOf('execute_operation', started(nodes), { ...parameters, allow_kwargs_override: true }), {
      run: (p) => (seen.push(p.inputs), ok()),
    });
    expect(seen).toEqual([{ x: 1, y: { z: 1, w: 2 } }]);
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

describe('scale', () => {
  const ops = ['create', 'start', 'stop', 'delete'];

  /** Adds one instance of `a` with the modification, or names the last one for removal. */
  function modifying(parameters: JsonObject, extra: DriverOptions = {}) {
    const model = started({ a: { ops, count: 2 }, lb: { rels: [{ to: 'a', source: ['establish', 'unlink'] }] } });
    const call = (request: CallRequest): Json => {
      if (request.call !== 'modification-start') return null;
      const planned = (request.entities.a as JsonObject).instances as number;
      if (planned < 2) return { modification_id: 'm', added: [], removed: ['a_1'], related: ['lb_0'] };
      const added = { ...structuredClone(model.nodeInstances[0]!), id: 'a_2', state: 'uninitialized' };
      model.nodeInstances.push(added);
      const lb = model.nodeInstances.find((i) => i.id === 'lb_0')!;
      lb.relationships.push({ target_id: 'a_2', target_name: 'a', type: 'cloudify.relationships.connected_to' });
      return { modification_id: 'm', added: ['a_2'], removed: [], related: ['lb_0'] };
    };
    const input = inputOf('scale', model, { scalable_entity_name: 'a', ...parameters }, { taskRetries: 0 });
    return { model, record: drive('scale', input, { ...PARANOID, call, ...extra }) };
  }

  test('out: what is added is installed, what is related to it is linked', () => {
    const { record } = modifying({ delta: '+1' });
    expect(labels(record)).toEqual(['create a', 'start a', 'establish lb->a']);
    expect(record.requests.map((r) => r.call)).toEqual(['modification-start', 'modification-finish']);
    expect(record.stages[0]!.name).toBe('a_install');
  });

  test('in: unlink first, then uninstall', () => {
    const { record } = modifying({ delta: -1 });
    expect(labels(record)).toEqual(['unlink lb->a', 'stop a', 'delete a']);
    expect(record.outcome).toBe('succeeded');
  });

  test('a failed scale out is rolled back and fails as its graph did', () => {
    const { record } = modifying({ delta: 1 }, { run: (p) => (p.operation.endsWith('start') ? broken() : ok()) });
    expect(labels(record)).toEqual(['create a', 'start a', 'unlink lb->a', 'stop a']);
    expect(record.requests.map((r) => r.call)).toEqual(['modification-start', 'modification-rollback']);
    expect(record.error).toMatchObject({ type: 'WorkflowFailed', message: expect.stringContaining('a_2') });
  });

  test('without rollback the modification stays as it is', () => {
    const { record } = modifying({ delta: 1, rollback_if_failed: false }, { run: () => broken() });
    expect(record.requests.map((r) => r.call)).toEqual(['modification-start']);
    expect(record.outcome).toBe('failed');
  });

  test.each([
    [{ delta: 'x' }, 'ValueError', 'The delta parameter must be a number. Got: x'],
    [{ delta: -3 }, 'ValueError', 'Provided delta: -3 is illegal. current number of instances of entity a is 2'],
    [{ scalable_entity_name: 'z' }, 'ValueError', 'No scalable entity named z was found'],
    [{ delta: 1, exclude_instances: ['a_0'] }, 'ValueError', 'when scaling in'],
    [{ delta: -2, exclude_instances: ['a_0'] }, 'RuntimeError', 'Available instances: a_0, a_1'],
    [{ delta: -1, include_instances: ['q'], exclude_instances: ['q'] }, 'RuntimeError', 'both included and excluded: q'],
    [{ delta: -1, include_instances: ['a_0'], scale_compute: true }, 'RuntimeError', 'scale_compute'],
  ])('refuses %j', (parameters, type, text) => {
    const { record } = modifying(parameters as JsonObject);
    expect(record.requests).toEqual([]);
    expect(record.error).toEqual({ type, message: expect.stringContaining(text) });
  });

  test('a delta of nothing succeeds at once; a modification left over is taken back when asked', () => {
    expect(modifying({ delta: 0 }).record).toMatchObject({ outcome: 'succeeded', requests: [] });
    const model = started({ a: { ops } });
    model.modifications = [{ id: 'old', added: ['a_0'], removed: [], related: [] }];
    const input = inputOf('scale', model, { scalable_entity_name: 'a', delta: 1, abort_started: true });
    const record = drive('scale', input, { call: () => ({ modification_id: 'new', added: [], removed: [], related: [] }) });
    expect(record.requests.map((r) => r.call)).toEqual(['note', 'modification-rollback', 'modification-start', 'modification-finish']);
    expect(labels(record)).toEqual(['stop a', 'delete a']);
  });

  test('groups count their instances; members stand for their group instance', () => {
    const model = started({ a: {}, b: {} });
    model.scalingGroups = { g: { members: ['a', 'b'], properties: { current_instances: 2 } } };
    for (const i of model.nodeInstances) i.scaling_groups = [{ id: 'g_1', name: 'g' }];
    const stage = nextStage('scale', inputOf('scale', model, { scalable_entity_name: 'g', delta: -1, include_instances: ['a_0'] }), []);
    expect(stage).toMatchObject({ request: { entities: { g: { instances: 1, removed_ids_include_hint: ['a_0'] } } } });
  });
});

describe('update', () => {
  const NONE: UpdateChanges = {
    added: [], added_related: [], removed: [], removed_related: [], extended: [], reduced: [],
    extended_relationships: [], reduced_relationships: [], changed_nodes: [],
  };
  const life = ['stop', 'delete', 'create'];
  const both = ['establish', 'unlink'];

  function updating(nodes: { [id: string]: NodeFixture }, changes: Partial<UpdateChanges>, parameters = {}, extra: DriverOptions = {}) {
    const model = started(nodes);
    const call = (r: CallRequest): Json => (r.call === 'update-perform' ? ({ ...NONE, ...changes } as unknown as Json) : {});
    const input = inputOf('update', model, { update_id: 'u', ...parameters }, { taskRetries: 0 });
    return { model, record: drive('update', input, { ...PARANOID, call, ...extra }) };
  }

  test('takes away, reinstalls, adds, in that order', () => {
    const { record } = updating(
      {
        a: { ops: life },
        kept: { ops: life, rels: [{ to: 'a', source: both }] },
        gone: { ops: life },
        fresh: { ops: life, state: 'uninitialized' },
        linked: { rels: [{ to: 'fresh', source: both }] },
      },
      {
        removed: ['gone_0'],
        added: ['fresh_0'],
        reduced_relationships: [['kept_0', 'a_0']],
        extended_relationships: [['linked_0', 'fresh_0']],
        changed_nodes: ['kept'],
      },
    );
    expect(labels(record)).toEqual([
      ...['unlink kept->a', 'stop gone', 'delete gone', 'stop kept', 'unlink kept->a', 'delete kept'],
      ...['create kept', 'establish kept->a', 'create fresh', 'establish linked->fresh'],
    ]);
    expect(record.events.filter((e) => e.type === 'task_started' && e.nodeInstanceId === null)).toHaveLength(13);
    expect(record.requests.map((r) => r.call)).toEqual([
      ...['update-prepare', 'update-perform', 'system-properties', 'system-properties', 'update-finish'],
    ]);
  });

  test('what can be updated in place is, targets first; a failure there means reinstall', () => {
    const ops = ['check_drift', 'update', ...life];
    const nodes = { a: { ops }, b: { ops, rels: ['a'] } };
    const drifted = (fails: string | null): DriverOptions => ({
      run: (p) => (p.operation.endsWith('.update') && p.nodeId === fails ? broken() : ok(p.operation.endsWith('drift') ? { size: 1 } : null)),
    });
    const fine = updating(structuredClone(nodes), {}, {}, drifted(null));
    expect(labels(fine.record)).toEqual(['check_drift a', 'check_drift b', 'update a', 'update b']);
    expect(systemOf(fine.model, 'a_0').configuration_drift).toBeNull();
    const bad = updating(structuredClone(nodes), {}, {}, drifted('b'));
    expect(labels(bad.record).slice(4)).toEqual(['stop b', 'delete b', 'create b']);
    expect(systemOf(bad.model, 'b_0')).not.toHaveProperty('update_failed');
  });

  test.each([
    [{ skip_reinstall: true }, []],
    [{ skip_reinstall: true, reinstall_list: ['b_0'] }, ['stop b', 'delete b', 'create b']],
    [{ skip_drift_check: true }, ['stop a', 'delete a', 'create a']],
  ])('with %j', (parameters, calls) => {
    const { record } = updating({ a: { ops: life }, b: { ops: life } }, { changed_nodes: ['a'] }, parameters);
    expect(labels(record)).toEqual(calls);
  });

  test('a failed drift check reinstalls with everything contained', () => {
    const nodes = { a: { ops: ['check_drift', ...life] }, in_a: { ops: life, rels: [{ to: 'a', contained: true }] } };
    const { record } = updating(nodes, {}, {}, { run: (p) => (p.operation.endsWith('drift') ? broken() : ok()) });
    expect(labels(record).slice(1)).toEqual(['stop in_a', 'delete in_a', 'stop a', 'delete a', 'create a', 'create in_a']);
  });

  test('skips leave instances as they are, a preview changes nothing, an unsupported step fails', () => {
    const nodes = () => ({ gone: { ops: life }, fresh: { ops: life, state: 'uninitialized' } });
    const changes = { removed: ['gone_0'], added: ['fresh_0'] };
    expect(updating(nodes(), changes, { skip_install: true, skip_uninstall: true }).record.calls).toEqual([]);
    const preview = updating(nodes(), changes, { preview: true }).record;
    expect(preview.requests.map((r) => r.call)).toEqual(['update-prepare', 'update-state']);
    const refused = updating(nodes(), changes, {}, { call: () => ({ unsupported: ['x'] }) }).record;
    expect(refused.error).toEqual({ type: 'RuntimeError', message: 'Cannot update: unsupported steps found' });
  });

  test('a workflow of the user gets the lists of ids in place of the built-in steps', () => {
    const { record } = updating({ a: { ops: life } }, { added: ['a_0'], extended_relationships: [['a_0', 't_0']] }, { workflow_id: 'mine' });
    const request = record.requests.find((r) => r.call === 'run-execution');
    expect(request).toMatchObject({ workflowId: 'mine', parameters: { added_instance_ids: ['a_0'], extend_target_instance_ids: ['t_0'] } });
    expect(record.calls).toEqual([]);
  });
});

describe('agents', () => {
  const AG = 'cloudify.interfaces.cloudify_agent';
  const ops = [`${AG}.validate_amqp`, `${AG}.create_amqp`, 'cloudify.interfaces.monitoring_agent.install'];
  const host = (state: string): NodeFixture => ({ ops, types: ['cloudify.nodes.Compute'], properties: { install_agent: true }, state });

  test('new agents are validated, made, validated again', () => {
    const model = fixture({ h: host('started'), app: { ops: ['cloudify.interfaces.monitoring.start'], rels: [{ to: 'h', contained: true }] } });
    const seen: Json[] = [];
    const record = drive('install_new_agents', inputOf('install_new_agents', model, { manager_ip: 'm' }), {
      ...PARANOID,
      run: (p) => (seen.push(p.inputs.current_amqp ?? null), ok()),
    });
    expect(labels(record)).toEqual(['validate_amqp h', 'create_amqp h', 'validate_amqp h', 'install h', 'start app']);
    expect(seen.slice(0, 3)).toEqual([false, null, true]);
  });

  test.each([
    [{ h: host('stopped') }, {}, 'RuntimeError', 'Node h_0 is not started (state: stopped)'],
    [{ a: {} }, { node_ids: ['a'] }, 'ValueError', 'Specified filters are not correct:\na_0 is not a host with an agent'],
  ])('refuses %j with %j', (nodes, parameters, type, message) => {
    const record = drive('validate_agents', inputOf('validate_agents', fixture(nodes), parameters as JsonObject));
    expect(record.error).toEqual({ type, message });
  });
});

test('a recursive uninstall asks for the deployments below first', () => {
  const record = drive('uninstall', inputOf('uninstall', started({ a: { ops: ['stop'] } }), { recursive: true }));
  expect(record.requests).toEqual([expect.objectContaining({ call: 'run-on-services', groupId: 'deployment-1_services_uninstall' })]);
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
    labels(drive(workflow, inputOf(workflow, started({ a: { ops }, b: { ops, rels: ['a'] } }), parameters), PARANOID));
  expect(run('start')).toEqual(['start a', 'start b']);
  expect(run('stop')).toEqual(['stop a', 'stop b']);
  expect(run('pull')).toEqual(['pull a', 'pull b']);
  expect(run('restart')).toEqual(['stop a', 'stop b', 'start a', 'start b']);
});

test('a failed call fails the workflow with its own error', () => {
  const history = [{ kind: 'call' as const, name: 'uninstall-services', error: { type: 'Timeout', message: 'late' } }];
  const stage = nextStage('uninstall', inputOf('uninstall', fixture({}), { recursive: true }), history);
  expect(stage).toEqual({ kind: 'end', outcome: 'failed', error: { type: 'Timeout', message: 'late' } });
});

test('a stored history that does not fit is an error, an unknown workflow too', () => {
  const input = inputOf('install', fixture({}));
  const odd = nextStage('install', input, [{ kind: 'graph', name: 'other', outcome: { kind: 'succeeded' } }]);
  expect(odd).toMatchObject({ kind: 'end', error: { message: expect.stringContaining('other') } });
  expect(nextStage('nope', input, [])).toMatchObject({ outcome: 'failed' });
});

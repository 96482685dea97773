import type { Json, JsonObject } from '@baton/kernel';
import { codeGraph, compileItems } from '../code/compile';
import { type DriverOptions, drive, labels, stageNames } from '../testing/driver';
import { CONFIG, fixture, inputOf, started } from '../testing/fixture';
import type { StageResult, WorkflowInput } from '../workflow';
import { nextStage } from './registry';

/** Dry runs and plans: they report the work and do none of it. */

const CHECK = 'cloudify.interfaces.validation.check_status';
const ops = ['create', 'start', 'stop', 'delete', 'pull', 'heal', 'update', 'check_drift', CHECK];
const nodes = () => ({
  host: { ops, types: ['cloudify.nodes.Compute'], properties: { install_agent: true } },
  app: { ops, rels: [{ to: 'host', contained: true, source: ['establish', 'unlink', 'check_drift'] }] },
});
const sick = { status: { ok: false, task: 'check' } };
const started2 = () => {
  const model = started(nodes());
  for (const instance of model.nodeInstances) instance.system_properties = structuredClone(sick);
  return model;
};
const dry = (input: WorkflowInput): WorkflowInput => ({ ...input, dryRun: true, isRehearsal: true });

const added = (id: string) => ({
  id,
  node_id: 'app',
  state: 'uninitialized',
  relationships: [{ target_id: 'host_0', target_name: 'host', type: 'cloudify.relationships.contained_in' }],
});
const options: DriverOptions = {
  call: (request): Json => {
    const asked = request.call === 'rehearse' ? request.of.call : null;
    if (asked === 'modification-start')
      return { added: ['app_9'], removed: [], related: ['host_0'], instances: [added('app_9')] };
    if (asked === 'update-prepare') return { unsupported: [], steps: ['entity type: node'] };
    return null;
  },
};

const parameters: Record<string, JsonObject> = {
  execute_operation: { operation: 'cloudify.interfaces.lifecycle.pull' },
  scale: { scalable_entity_name: 'app', delta: 1 },
  update: { update_id: 'u' },
};

test.each([
  'install',
  'uninstall',
  'reinstall',
  'start',
  'stop',
  'restart',
  'execute_operation',
  'pull',
  'heal',
  'scale',
  'check_status',
  'check_drift',
  'rollback',
  'install_new_agents',
  'validate_agents',
  'update',
])('a dry run of %s sends nothing, sets nothing and asks for no change', (workflow) => {
  const model = workflow === 'install' ? fixture(nodes()) : started2();
  if (workflow === 'rollback') for (const instance of model.nodeInstances) instance.state = 'creating';
  const before = structuredClone(model);
  const record = drive(workflow, dry(inputOf(workflow, model, parameters[workflow])), {
    ...options,
    inspect: (_, { systemProperties, instanceStates, dispatch }) =>
      expect([systemProperties, instanceStates, dispatch]).toEqual([[], [], []]),
  });
  expect(record.outcome).toBe('succeeded');
  expect(record.stages.flatMap((stage) => stage.rows).length).toBeGreaterThan(0);
  expect(model).toEqual(before);
  for (const request of record.requests) expect(['note', 'rehearse']).toContain(request.call);
});

test('a dry run of reinstall shows that everything is installed again', () => {
  const record = drive('reinstall', dry(inputOf('reinstall', started2())));
  expect(stageNames(record)).toEqual(['reinstall-uninstall', 'reinstall-install']);
  const [removal, installation] = record.stages.map((stage) => stage.rows.map((row) => row.payload));
  const operations = (payloads: typeof removal) =>
    payloads!.flatMap((payload) =>
      'operation' in payload ? [String(payload.operation).split('.').at(-1)] : [],
    );
  expect(operations(removal)).toEqual(expect.arrayContaining(['stop', 'delete']));
  expect(operations(installation).filter((name) => name === 'create')).toHaveLength(2);
});

test('a dry run of scale shows the install of instances that are not there', () => {
  const record = drive('scale', dry(inputOf('scale', started2(), parameters.scale)), options);
  expect(stageNames(record)).toEqual(['app_install']);
  expect(record.stages[0]!.rows.map((row) => row.name)).toContain('install_app_9');
  expect(labels(record)).toEqual([]);
});

test('the plan of a real run has what the run does', () => {
  const plan = (workflow: string, model = started2()) => {
    const history: StageResult[] = [];
    const names: string[] = [];
    for (;;) {
      const input = { ...inputOf(workflow, model, parameters[workflow]), isRehearsal: true };
      const stage = nextStage(workflow, input, history);
      if (stage.kind === 'end') return names;
      const { kind, name, memo } = stage;
      if (kind === 'graph') names.push(...stage.spec.tasks.map((task) => `${name}/${task.name}`));
      history.push(
        kind === 'graph'
          ? { kind, name, memo, outcome: { kind: 'succeeded' } }
          : { kind, name, memo, response: null },
      );
    }
  };
  for (const workflow of ['reinstall', 'restart', 'heal', 'uninstall']) {
    const record = drive(workflow, inputOf(workflow, started2(), { check_status: false }));
    const done = record.stages.flatMap((stage) => stage.rows.map((row) => `${stage.name}/${row.name}`));
    const planned =
      workflow === 'heal' ? plan(workflow).filter((name) => !name.startsWith('check')) : plan(workflow);
    expect(planned).toEqual(done);
  }
});

test('workflow code sets no states in a dry run', () => {
  const model = fixture(nodes());
  const code = { name: 'wf', mapping: 'm', plugin: { name: 'p', packageName: null, packageVersion: null } };
  expect(codeGraph({ ...code, parameters: {} }, { waitAfterFailMs: 0, isDryRun: true }).dryRun).toBe(true);
  const item = { key: '1', item: 'state' as const, instanceId: 'host_0', state: 'gone' };
  const compiled = compileItems({ model, config: CONFIG, isDryRun: true }, [item], 1, new Map());
  expect(compiled.ok && compiled.value.map((task) => task.kind)).toEqual(['nop']);
});

import type { Json, JsonObject } from '@baton/kernel';
import { broken, type DriverOptions, drive, labels, ok, stageNames } from '../testing/driver';
import { fixture, inputOf, started } from '../testing/fixture';
import type { CallRequest } from '../workflow';
import { nextStage } from './registry';

/** scale and rollback (reference workflows.md 1.10, 1.12). */

const _CHECK = 'cloudify.interfaces.validation.check_status';
const PARANOID = { isParanoid: true };

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

describe('scale', () => {
  const ops = ['create', 'start', 'stop', 'delete'];

  /** Adds one instance of `a` through the modification, or marks the last one for removal. */
  function modifying(parameters: JsonObject, extra: DriverOptions = {}) {
    const model = started({
      a: { ops, count: 2 },
      lb: { rels: [{ to: 'a', source: ['establish', 'unlink'] }] },
    });
    const call = (request: CallRequest): Json => {
      if (request.call !== 'modification-start') return null;
      const planned = (request.entities.a as JsonObject).instances as number;
      if (planned < 2) return { modification_id: 'm', added: [], removed: ['a_1'], related: ['lb_0'] };
      const added = { ...structuredClone(model.nodeInstances[0]!), id: 'a_2', state: 'uninitialized' };
      model.nodeInstances.push(added);
      const lb = model.nodeInstances.find((i) => i.id === 'lb_0')!;
      lb.relationships.push({
        target_id: 'a_2',
        target_name: 'a',
        type: 'cloudify.relationships.connected_to',
      });
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
    const { record } = modifying(
      { delta: 1 },
      { run: (p) => (p.operation.endsWith('start') ? broken() : ok()) },
    );
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
    [
      { delta: -3 },
      'ValueError',
      'Provided delta: -3 is illegal. current number of instances of entity a is 2',
    ],
    [{ scalable_entity_name: 'z' }, 'ValueError', 'No scalable entity named z was found'],
    [{ delta: 1, exclude_instances: ['a_0'] }, 'ValueError', 'when scaling in'],
    [{ delta: -2, exclude_instances: ['a_0'] }, 'RuntimeError', 'Available instances: a_0, a_1'],
    [
      { delta: -1, include_instances: ['q'], exclude_instances: ['q'] },
      'RuntimeError',
      'both included and excluded: q',
    ],
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
    const record = drive('scale', input, {
      call: () => ({ modification_id: 'new', added: [], removed: [], related: [] }),
    });
    expect(record.requests.map((r) => r.call)).toEqual([
      'note',
      'modification-rollback',
      'modification-start',
      'modification-finish',
    ]);
    expect(labels(record)).toEqual(['stop a', 'delete a']);
  });

  test('groups count their instances; members stand for their group instance', () => {
    const model = started({ a: {}, b: {} });
    model.scalingGroups = { g: { members: ['a', 'b'], properties: { current_instances: 2 } } };
    for (const i of model.nodeInstances) i.scaling_groups = [{ id: 'g_1', name: 'g' }];
    const stage = nextStage(
      'scale',
      inputOf('scale', model, { scalable_entity_name: 'g', delta: -1, include_instances: ['a_0'] }),
      [],
    );
    expect(stage).toMatchObject({
      request: { entities: { g: { instances: 1, removed_ids_include_hint: ['a_0'] } } },
    });
  });
});

import type { Json } from '@baton/kernel';
import { broken, type DriverOptions, drive, labels, ok } from '../testing/driver';
import { inputOf, type NodeFixture, started, systemOf } from '../testing/fixture';
import type { CallRequest, UpdateChanges } from '../workflow';

/** update (reference workflows.md 1.13). */

const CHECK = 'cloudify.interfaces.validation.check_status';
const PARANOID = { isParanoid: true };

describe('update', () => {
  const NONE: UpdateChanges = {
    added: [],
    added_related: [],
    removed: [],
    removed_related: [],
    extended: [],
    reduced: [],
    extended_relationships: [],
    reduced_relationships: [],
    changed_nodes: [],
  };
  const life = ['stop', 'delete', 'create'];
  const both = ['establish', 'unlink'];

  function updating(
    nodes: { [id: string]: NodeFixture },
    changes: Partial<UpdateChanges>,
    parameters = {},
    extra: DriverOptions = {},
  ) {
    const model = started(nodes);
    const call = (r: CallRequest): Json =>
      r.call === 'update-perform' ? ({ ...NONE, ...changes } as unknown as Json) : {};
    const input = inputOf('update', model, { update_id: 'u', ...parameters }, { taskRetries: 0 });
    return { model, record: drive('update', input, { ...PARANOID, call, ...extra }) };
  }

  test('connects and disconnects what stays once, also where its other end comes or goes', () => {
    const { record } = updating(
      {
        a: { ops: life },
        gone: { ops: life, rels: [{ to: 'a', source: both }] },
        fresh: { ops: life, state: 'uninitialized', rels: [{ to: 'a', source: both }] },
        kept: {
          rels: [
            { to: 'gone', source: both },
            { to: 'fresh', source: both },
          ],
        },
      },
      {
        removed: ['gone_0'],
        removed_related: ['kept_0', 'a_0'],
        added: ['fresh_0'],
        added_related: ['kept_0', 'a_0'],
        reduced_relationships: [['kept_0', 'gone_0']],
        extended_relationships: [['kept_0', 'fresh_0']],
      },
    );
    expect(labels(record)).toEqual([
      ...['unlink kept->gone', 'stop gone', 'unlink gone->a', 'delete gone'],
      ...['create fresh', 'establish fresh->a', 'establish kept->fresh'],
    ]);
  });

  test('what comes and what goes is not linked to what is reinstalled between', () => {
    const rels = [{ to: 'a', source: both }];
    const { record } = updating(
      {
        a: { ops: life },
        kept: { rels },
        gone: { ops: ['stop'], rels },
        fresh: { ops: ['create'], state: 'uninitialized', rels },
      },
      {
        removed: ['gone_0'],
        removed_related: ['a_0'],
        added: ['fresh_0'],
        added_related: ['a_0'],
        changed_nodes: ['a'],
      },
    );
    expect(labels(record)).toEqual([
      ...['stop gone', 'unlink gone->a', 'unlink kept->a', 'stop a', 'delete a'],
      ...['create a', 'establish kept->a', 'create fresh', 'establish fresh->a'],
    ]);
  });

  test('an update that fails reinstalls that instance alone', () => {
    const { record } = updating(
      {
        a: { ops: [...life, 'update'] },
        in_a: { ops: life, rels: [{ to: 'a', contained: true, source: both }] },
      },
      { changed_nodes: ['a'] },
      {},
      { run: (p) => (p.operation.endsWith('.update') ? broken(false) : ok()) },
    );
    expect(labels(record)).toEqual([
      ...['update a', 'unlink in_a->a', 'stop a', 'delete a', 'create a', 'establish in_a->a'],
    ]);
  });

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
        added_related: ['linked_0'],
        reduced_relationships: [['kept_0', 'a_0']],
        extended_relationships: [['linked_0', 'fresh_0']],
        changed_nodes: ['kept'],
      },
    );
    expect(labels(record)).toEqual([
      ...['unlink kept->a', 'stop gone', 'delete gone', 'stop kept', 'unlink kept->a', 'delete kept'],
      ...['create kept', 'establish kept->a', 'create fresh', 'establish linked->fresh'],
    ]);
    expect(record.events.filter((e) => e.type === 'task_started' && e.nodeInstanceId === null)).toHaveLength(
      13,
    );
    expect(record.requests.map((r) => r.call)).toEqual([
      ...['update-prepare', 'update-perform', 'system-properties', 'system-properties', 'update-finish'],
    ]);
  });

  test('what can be updated in place is, targets first; a failure there means reinstall', () => {
    const ops = ['check_drift', 'update', ...life];
    const nodes = { a: { ops }, b: { ops, rels: ['a'] } };
    const drifted = (fails: string | null): DriverOptions => ({
      run: (p) =>
        p.operation.endsWith('.update') && p.nodeId === fails
          ? broken()
          : ok(p.operation.endsWith('drift') ? { size: 1 } : null),
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

  const drifting: DriverOptions = { run: (p) => ok(p.operation.endsWith('drift') ? { size: 1 } : null) };

  test('what reinstall_list names is reinstalled, not checked and not updated first', () => {
    const ops = ['check_drift', 'update', ...life];
    const { record } = updating({ a: { ops }, b: { ops } }, {}, { reinstall_list: ['a_0'] }, drifting);
    expect(labels(record)).toEqual(['check_drift b', 'update b', 'stop a', 'delete a', 'create a']);
  });

  test('force_reinstall reinstalls what could be updated in place, and leaves what stands on it', () => {
    const nodes = {
      a: { ops: ['check_drift', 'update', ...life] },
      in_a: { ops: life, rels: [{ to: 'a', contained: true }] },
    };
    const { record } = updating(nodes, {}, { force_reinstall: true }, drifting);
    expect(labels(record)).toEqual(['check_drift a', 'stop a', 'delete a', 'create a']);
  });

  test('a relationship whose check found nothing is updated beside its instance; one that nothing checks is not', () => {
    const sides = (ops: string[]) => ({ to: 'a', source: ops, target: ops });
    const nodes = (ops: string[]) => ({ a: {}, b: { ops: ['update'], rels: [sides(ops)] } });
    const checked = updating(nodes(['check_drift', 'update']), { changed_nodes: ['b'] });
    expect(labels(checked.record)).toEqual([
      ...['check_drift b->a', 'check_drift b->a', 'update b', 'update b->a', 'update b->a'],
    ]);
    const unchecked = updating(nodes(['update']), { changed_nodes: ['b'] });
    expect(labels(unchecked.record)).toEqual(['update b']);
  });

  test('drift that is not mended stays known, that of a reinstalled instance is forgotten', () => {
    const nodes = () => ({
      a: {},
      b: { ops: ['check_drift', ...life], rels: [{ to: 'a', source: ['check_drift'] }] },
    });
    const skipped = updating(nodes(), {}, { skip_reinstall: true }, drifting);
    expect(systemOf(skipped.model, 'b_0').configuration_drift).toMatchObject({ result: { size: 1 } });
    const mended = systemOf(updating(nodes(), {}, {}, drifting).model, 'b_0');
    expect(Object.keys(mended).filter((name) => name.endsWith('_drift'))).toEqual([]);
  });

  test('what is reinstalled is not linked again to what has gone', () => {
    const nodes = {
      gone: { ops: life },
      a: { ops: life },
      b: {
        ops: life,
        rels: [
          { to: 'gone', source: both },
          { to: 'a', source: both },
        ],
      },
    };
    const changes = { removed: ['gone_0'], removed_related: ['b_0'], changed_nodes: ['b'] };
    expect(labels(updating(nodes, changes).record)).toEqual([
      ...[
        'unlink b->gone',
        'stop gone',
        'delete gone',
        'stop b',
        'unlink b->a',
        'delete b',
        'create b',
        'establish b->a',
      ],
    ]);
  });

  test('an instance that stays is unlinked from its last target first', () => {
    const nodes = {
      a: { ops: life },
      b: { ops: life },
      c: {
        rels: [
          { to: 'a', source: ['unlink'] },
          { to: 'b', source: ['unlink'] },
        ],
      },
    };
    const changes = { removed: ['a_0', 'b_0'], removed_related: ['c_0'] };
    expect(labels(updating(nodes, changes).record).slice(0, 2)).toEqual(['unlink c->b', 'unlink c->a']);
  });

  test.each(['check_drift', 'check_status'])(
    'a %s that asks for ever to be run again fails the update',
    (name) => {
      const checked = name === 'check_drift' ? [name] : ['update', CHECK];
      const { record } = updating(
        { a: { ops: [...checked, ...life] } },
        { changed_nodes: ['a'] },
        {},
        {
          run: (p) =>
            p.operation.endsWith(name) ? { kind: 'retry', message: 'not yet', retryAfterMs: 1 } : ok(),
        },
      );
      expect(labels(record)).toEqual([`${name} a`]);
      expect(record.error?.type).toBe('WorkflowFailed');
    },
  );

  test('a failed drift check reinstalls with everything contained', () => {
    const nodes = {
      a: { ops: ['check_drift', ...life] },
      in_a: { ops: life, rels: [{ to: 'a', contained: true }] },
    };
    const { record } = updating(
      nodes,
      {},
      {},
      { run: (p) => (p.operation.endsWith('drift') ? broken() : ok()) },
    );
    expect(labels(record).slice(1)).toEqual([
      'stop in_a',
      'delete in_a',
      'stop a',
      'delete a',
      'create a',
      'create in_a',
    ]);
  });

  test('skips leave instances as they are, a preview changes nothing, an unsupported step fails', () => {
    const nodes = () => ({ gone: { ops: life }, fresh: { ops: life, state: 'uninitialized' } });
    const changes = { removed: ['gone_0'], added: ['fresh_0'] };
    expect(updating(nodes(), changes, { skip_install: true, skip_uninstall: true }).record.calls).toEqual([]);
    const preview = updating(nodes(), changes, { preview: true }).record;
    expect(preview.requests.map((r) => r.call)).toEqual(['update-prepare', 'update-state']);
    const refused = updating(nodes(), changes, {}, { call: () => ({ unsupported: ['x'] }) }).record;
    expect(refused.error).toEqual({
      type: 'RuntimeError',
      message: 'Cannot update: unsupported steps found',
    });
    expect(refused.events.map((e) => `${e.type} ${e.message.split("'")[1]}`)).toEqual([
      ...['task_started prepare_plan', 'task_succeeded prepare_plan'],
      ...['task_started compare_plans', 'task_failed compare_plans'],
    ]);
  });

  test('a workflow of the user gets the lists of ids in place of the built-in steps', () => {
    const { record } = updating(
      { a: { ops: life } },
      {
        added: ['a_0'],
        extended_relationships: [['a_0', 't_0']],
        modified_entity_ids: { node: ['a'], relationship: { a: [0] } },
      },
      { workflow_id: 'mine' },
    );
    const request = record.requests.find((r) => r.call === 'run-execution');
    expect(request).toMatchObject({
      workflowId: 'mine',
      parameters: {
        added_instance_ids: ['a_0'],
        extend_target_instance_ids: ['t_0'],
        modified_entity_ids: { node: ['a'], relationship: { a: [0] } },
      },
    });
    expect(record.calls).toEqual([]);
  });
});

import { broken, drive, labels, ok, stageNames } from '../testing/driver';
import { fixture, inputOf, started, systemOf } from '../testing/fixture';
import { nextStage } from './registry';

/** heal and the checks it builds on (reference workflows.md 1.9, 1.11). */

const CHECK = 'cloudify.interfaces.validation.check_status';
const PARANOID = { isParanoid: true };

describe('heal', () => {
  const life = ['stop', 'delete', 'create', 'start'];
  const nodes = () => ({
    host: { ops: life },
    app: { ops: life, rels: [{ to: 'host', contained: true }] },
    other: { ops: life },
  });

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
    const record = drive('heal', inputOf('heal', model), {
      ...PARANOID,
      run: (p) => (p.operation === CHECK ? broken(true) : ok()),
    });
    expect(labels(record)).toEqual(['check_status a', 'check_status b', 'heal a', 'heal b']);
    expect(systemOf(model, 'b_0').status).toMatchObject({
      ok: true,
      task: null,
      healed: true,
      result: 'boom',
    });
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

  test('what is contained in an instance whose healing failed is only linked again', () => {
    const target = ['establish', 'unlink'];
    const rels = [{ to: 'host', contained: true, target }];
    const model = started({ host: { ops: [CHECK, 'heal', ...life] }, app: { ops: life, rels } });
    const record = drive('heal', inputOf('heal', model, {}, { taskRetries: 0 }), {
      ...PARANOID,
      run: (p) => (p.operation === CHECK || p.operation.endsWith('heal') ? broken() : ok()),
    });
    expect(labels(record)).toEqual([
      ...['check_status host', 'heal host', 'unlink app->host', 'stop host', 'delete host'],
      ...['create host', 'start host', 'establish app->host'],
    ]);
  });

  test('a reinstall that is not allowed is refused before anything runs', () => {
    const input = inputOf('heal', started(nodes()), { node_instance_id: 'host_0', allow_reinstall: false });
    const record = drive('heal', input, PARANOID);
    expect(record).toMatchObject({ outcome: 'failed', calls: [] });
    expect(record.error!.message).toBe(
      'allow_reinstall is false, but would need to reinstall instances: host_0, app_0',
    );
  });

  test('an unknown instance is an error, a forced reinstall asks nothing', () => {
    expect(nextStage('heal', inputOf('heal', started(nodes()), { node_instance_id: 'x' }), [])).toMatchObject(
      {
        error: { type: 'ValueError', message: 'No node instance with id `x` was found' },
      },
    );
    const input = inputOf('heal', started(nodes()), { node_instance_id: 'other_0', force_reinstall: true });
    expect(labels(drive('heal', input, PARANOID))).toEqual([
      'stop other',
      'delete other',
      'create other',
      'start other',
    ]);
  });

  test('an intact neighbour is unlinked from what goes and linked to what comes, and nothing else of it', () => {
    const both = ['establish', 'unlink'];
    const rels = [
      { to: 'n2', source: both, target: both },
      { to: 'n3', source: both, target: both },
    ];
    const input = inputOf('heal', started({ n2: {}, n3: {}, n1: { rels } }), { node_instance_id: 'n2_0' });
    expect(labels(drive('heal', input, PARANOID))).toEqual([
      'unlink n1->n2',
      'unlink n1->n2',
      'establish n1->n2',
      'establish n1->n2',
    ]);
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
    const record = drive('check_status', inputOf('check_status', model), {
      ...PARANOID,
      run: () => broken(true, 'down'),
    });
    expect(record).toMatchObject({ outcome: 'failed', error: { type: 'WorkflowFailed' } });
    expect(labels(record)).toEqual(['check_status a']);
    expect(systemOf(model, 'a_0')).toMatchObject({
      status: { ok: false, result: 'down', task: 'probe.op' },
      previous_status: { ok: true },
    });
    expect(systemOf(model, 'b_0')).toEqual({});
  });

  test('an own number of retries holds for status checks too', () => {
    const over = { [CHECK]: { max_retries: 2, retry_interval: 0.01 } };
    const record = drive('check_status', inputOf('check_status', started({ a: { ops: [CHECK], over } })), {
      run: (_, nth) => (nth < 3 ? broken(true) : ok()),
    });
    expect(record).toMatchObject({ outcome: 'succeeded', calls: { length: 3 } });
  });

  test('drift is looked for once, whatever retries there are', () => {
    const over = { check_drift: { max_retries: 5 } };
    const model = started({ a: { ops: ['check_drift'], over }, b: {} });
    const record = drive('check_drift', inputOf('check_drift', model), { run: () => broken(true, 'down') });
    expect(record).toMatchObject({ outcome: 'failed', calls: { length: 1 } });
    expect(systemOf(model, 'a_0').configuration_drift).toMatchObject({ ok: false, result: 'down' });
  });

  test('drift of instances and relationships is kept on the side it belongs to', () => {
    const rels = [{ to: 'a', source: ['check_drift'], target: ['check_drift'] }];
    const model = started({ a: { ops: ['check_drift'] }, b: { ops: ['check_drift'], rels } });
    const record = drive('check_drift', inputOf('check_drift', model), {
      ...PARANOID,
      run: (p) => ok(p.relationship?.side ?? 'own'),
    });
    expect(labels(record)).toEqual([
      'check_drift a',
      'check_drift b',
      'check_drift b->a',
      'check_drift b->a',
    ]);
    expect(systemOf(model, 'b_0')).toMatchObject({
      configuration_drift: { ok: true, result: 'own' },
      source_relationships_configuration_drift: { a_0: { result: 'source' } },
    });
    expect(systemOf(model, 'a_0')).toMatchObject({
      target_relationships_configuration_drift: { b_0: { result: 'target' } },
    });
  });

  test('what a failed check holds up waits also behind an instance without a check of its own', () => {
    const rels = [{ to: 'a', source: ['check_drift'] }];
    const nodes = {
      a: { ops: ['check_drift'] },
      b: { rels },
      c: { rels: [{ to: 'b', target: ['check_drift'] }] },
    };
    const run = { run: () => broken(false, 'down') };
    const record = drive('check_drift', inputOf('check_drift', started(nodes)), run);
    expect(labels(record)).toEqual(['check_drift a']);
    const unordered = inputOf('check_drift', started(nodes), { run_by_dependency_order: false });
    expect(labels(drive('check_drift', unordered, run)).sort()).toEqual([
      'check_drift a',
      'check_drift b->a',
      'check_drift c->b',
    ]);
  });

  test('started and configured reset what checks found', () => {
    const model = fixture({ a: { ops: ['configure'] } });
    drive('install', inputOf('install', model), PARANOID);
    expect(systemOf(model, 'a_0')).toMatchObject({
      status: { ok: true, task: null },
      configuration_drift: { ok: true, result: null },
    });
  });
});

import { broken, type DriverOptions, drive, labels, type Outcome, ok } from './testing/driver';
import { fixture, inputOf, type NodeFixture } from './testing/fixture';

/** Sequences of the reference (workflows.md 9.1): the operations that run, in order. */

const REL_OPS = ['preconfigure', 'postconfigure', 'establish', 'unlink'];
const LIFE = ['create', 'configure', 'start', 'stop', 'delete'];

function pair(): { [id: string]: NodeFixture } {
  return { n1: { ops: LIFE }, n2: { ops: LIFE, rels: [{ to: 'n1', source: REL_OPS }] } };
}

function failing(label: string, times: number, how = () => broken(true)): DriverOptions['run'] {
  return (payload, nth) => {
    const name = payload.operation.split('.').at(-1);
    return `${name} ${payload.nodeId}` === label && nth <= times ? (how() as Outcome) : ok();
  };
}

function names(record: ReturnType<typeof drive>, node: string): string[] {
  return labels(record).flatMap((l) => (l.split(' ')[1]!.split('->')[0] === node ? [l.split(' ')[0]!] : []));
}

const PARANOID = { isParanoid: true };
const N1_OK = ['create', 'configure', 'start'];
const N2_OK = ['create', 'preconfigure', 'configure', 'postconfigure', 'start', 'establish'];

test('lifecycle retry after a failed configure undoes and redoes the instance, then its source runs', () => {
  const input = inputOf('install', fixture(pair()), {}, { taskRetries: 1, subgraphRetries: 1 });
  const record = drive('install', input, { ...PARANOID, run: failing('configure n1', 2) });
  expect(record.outcome).toBe('succeeded');
  expect(names(record, 'n1')).toEqual(['create', 'configure', 'configure', 'stop', 'delete', ...N1_OK]);
  expect(names(record, 'n2')).toEqual(N2_OK);
  expect(labels(record).indexOf('create n2')).toBe(8);
});

test('lifecycle retry after a failed relationship operation stops and unlinks, and leaves the target alone', () => {
  const input = inputOf('install', fixture(pair()), {}, { taskRetries: 1, subgraphRetries: 1 });
  const record = drive('install', input, { ...PARANOID, run: failing('postconfigure n2', 2) });
  expect(record.outcome).toBe('succeeded');
  expect(names(record, 'n1')).toEqual(N1_OK);
  expect(names(record, 'n2')).toEqual([
    ...['create', 'preconfigure', 'configure', 'postconfigure', 'postconfigure'],
    ...['stop', 'unlink', 'delete', ...N2_OK],
  ]);
});

test('lifecycle retries end at their limit', () => {
  const input = inputOf('install', fixture(pair()), {}, { taskRetries: 1, subgraphRetries: 1 });
  const record = drive('install', input, { ...PARANOID, run: failing('configure n1', 4) });
  expect(record.outcome).toBe('failed');
  const once = ['create', 'configure', 'configure'];
  expect(names(record, 'n1')).toEqual([...once, 'stop', 'delete', ...once]);
  expect(names(record, 'n2')).toEqual([]);
});

test('an uninstall that fails leaves what it depends on alone', () => {
  const nodes = pair();
  for (const node of Object.values(nodes)) node.state = 'started';
  const input = inputOf('uninstall', fixture(nodes), {}, { taskRetries: 1 });
  const record = drive('uninstall', input, { ...PARANOID, run: failing('stop n2', 9) });
  expect(record.outcome).toBe('failed');
  expect(labels(record)).toEqual(['stop n2', 'stop n2']);
  expect(record.error!.message).toBe(
    'Task failed: probe.op (n2_0:cloudify.interfaces.lifecycle.stop): RecoverableError `boom`',
  );
});

function related(): { [id: string]: NodeFixture } {
  const to = (id: string, contained = false) => ({ to: id, contained, source: ['establish', 'unlink'] });
  return {
    main: {
      ops: ['stop', 'create'],
      rels: [to('n1'), to('n2'), to('main_compute', true), to('n4'), to('n5')],
      state: 'started',
    },
    depends: { ops: ['stop', 'create'], rels: [to('main_compute'), to('main')], state: 'started' },
    n1: { state: 'started' },
    n2: { state: 'started' },
    main_compute: { state: 'started' },
    n4: { state: 'started' },
    n5: { state: 'started' },
  };
}

const ESTABLISHED = ['main->n1', 'main->n2', 'main->main_compute', 'main->n4', 'main->n5'];

test('relationships follow blueprint order on install and its reverse on uninstall', () => {
  const record = drive('reinstall', inputOf('reinstall', fixture(related())), PARANOID);
  const of = (op: string) => labels(record).flatMap((l) => (l.startsWith(`${op} `) ? [l.split(' ')[1]] : []));
  expect(of('unlink')).toEqual(['depends->main', 'depends->main_compute', ...[...ESTABLISHED].reverse()]);
  expect(of('establish')).toEqual([...ESTABLISHED, 'depends->main_compute', 'depends->main']);
  expect(labels(record).lastIndexOf('unlink main->n1')).toBeLessThan(labels(record).indexOf('create main'));
});

test('a failed instance stops its sources, not its neighbours', () => {
  const model = fixture({
    s1: { ops: ['create'] },
    s2: { ops: ['create'] },
    s3: { ops: ['create'], rels: ['s2', 's1'] },
  });
  const record = drive('install', inputOf('install', model), {
    ...PARANOID,
    run: failing('create s2', 9, () => broken()),
  });
  expect(record.outcome).toBe('failed');
  expect(model.nodeInstances.map((i) => i.state)).toEqual(['started', 'creating', 'uninitialized']);
});

test.each([
  [{ node_instance_ids: ['n1_0'] }, 1],
  [{ node_ids: ['n3'] }, 2],
  [{ type_names: ['type2'] }, 3],
  [{ type_names: ['type2'], node_ids: ['n3'] }, 2],
  [{}, 4],
])('filters %j select %i instances', (filters, count) => {
  const model = fixture({
    n1: { state: 'started' },
    n2: { state: 'started', types: ['type2'] },
    n3: { state: 'started', types: ['type2', 'type3'], count: 2 },
  });
  drive('uninstall', inputOf('uninstall', model, filters), PARANOID);
  expect(model.nodeInstances.filter((i) => i.state === 'deleted')).toHaveLength(count);
});

test('a filtered install keeps the order that leads over instances left out', () => {
  const model = fixture({
    s1: { ops: ['create'] },
    s2: { ops: ['create'], rels: ['s1'] },
    s3: { ops: ['create'], rels: ['s2'] },
  });
  const record = drive('install', inputOf('install', model, { node_ids: ['s1', 's3'] }), PARANOID);
  expect(labels(record)).toEqual(['create s1', 'create s3']);
  expect(model.nodeInstances.map((i) => i.state)).toEqual(['started', 'uninitialized', 'started']);
});

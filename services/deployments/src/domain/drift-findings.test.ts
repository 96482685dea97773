import { driftFindings } from './drift-findings';

const AT = '2026-11-25T12:00:00.000Z';
const check = (result: unknown, ok = true) => ({ ok, result, task: 'p.check', timestamp: AT }) as never;

test('own drift comes first, then that of relationships with the instance at their other end', () => {
  const found = driftFindings({
    target_relationships_configuration_drift: { c_1: check('differs') },
    source_relationships_configuration_drift: { b_1: check(true), d_1: check(null) },
    configuration_drift: check({ size: { expected: 2, actual: 3 } }),
  });
  expect(found.map((one) => [one.of, one.other_instance_id])).toEqual([
    ['instance', null],
    ['source_of_relationship', 'b_1'],
    ['target_of_relationship', 'c_1'],
  ]);
  expect(found[0]).toMatchObject({ checked_at: AT, task: 'p.check', is_check_failed: false });
  expect(found[0]!.changes).toEqual([{ path: ['size'], expected: 2, actual: 3 }]);
});

test('both sides of a value are found at any depth, and in the result itself', () => {
  const changes = (result: unknown) => driftFindings({ configuration_drift: check(result) })[0]!.changes;
  expect(changes({ expected: 'a', actual: null })).toEqual([{ path: [], expected: 'a', actual: null }]);
  expect(changes({ net: { ports: { '80': { expected: 'open', actual: 'closed' } }, name: 'x' } })).toEqual([
    { path: ['net', 'ports', '80'], expected: 'open', actual: 'closed' },
  ]);
  expect(changes({ expected: 1 })).toEqual([]);
  expect(changes('text')).toEqual([]);
  expect(
    changes([{ path: 'ttl', stored: 300, present: null }, { path: 'ip' }, 'text', { stored: 1, present: 2 }]),
  ).toEqual([{ path: ['ttl'], expected: 300, actual: null }]);
  let deep: unknown = { expected: 1, actual: 2 };
  for (let i = 0; i < 10_000; i++) deep = { deep };
  expect(changes(deep)).toEqual([]);
});

test('a check that failed says so', () => {
  expect(driftFindings({ configuration_drift: check('no connection', false) })).toMatchObject([
    { is_check_failed: true, result: 'no connection' },
  ]);
});

test.each([
  [null, false],
  [false, false],
  [[], false],
  [[null, false], false],
  [['x'], true],
  [0, true],
  ['', true],
  [{}, true],
])('the result %j counts as the column of the database counts it', (result, isDrift) => {
  expect(driftFindings({ configuration_drift: check(result) })).toHaveLength(isDrift ? 1 : 0);
});

test('properties of another form say nothing', () => {
  expect(driftFindings({})).toEqual([]);
  expect(driftFindings({ configuration_drift: 'x', source_relationships_configuration_drift: [1] })).toEqual(
    [],
  );
  const [mark] = driftFindings({ configuration_drift: { ok: true, result: true, task: null } });
  expect(mark).toMatchObject({ task: null, checked_at: null, changes: [] });
});

import { readReplaySearch } from './replay-search';
import { stepOf, withStates } from './replay-states';

const node = (id: string, total: number) => ({
  id,
  type: 'T',
  instances: { total, by_state: { started: total } },
  has_drift: true,
});

test('nodes have the states of then, and what was not touched says so', () => {
  const { nodes } = withStates({ nodes: [node('a', 2), node('b', 1)], edges: [] }, [
    { node_id: 'a', state: 'creating' },
    { node_id: 'gone', state: 'started' },
  ]);
  expect(nodes.map(({ id, instances, has_drift }) => [id, instances, has_drift])).toEqual([
    ['a', { total: 2, by_state: { creating: 1, untouched: 1 } }, false],
    ['b', { total: 1, by_state: { untouched: 1 } }, false],
    ['gone', { total: 1, by_state: { started: 1 } }, false],
  ]);
});

test('instances that are gone since are counted', () =>
  expect(
    withStates({ nodes: [node('a', 1)], edges: [] }, [
      { node_id: 'a', state: 'started' },
      { node_id: 'a', state: 'deleted' },
    ]).nodes[0]!.instances,
  ).toEqual({ total: 2, by_state: { started: 1, deleted: 1 } }));

test('a replay takes about sixty steps', () =>
  expect([stepOf(1), stepOf(60), stepOf(61), stepOf(10_000)]).toEqual([1, 1, 2, 167]));

test('only a number is a moment', () =>
  expect(['12', 'x', '-1', undefined].map((at) => readReplaySearch({ at }).at)).toEqual([
    '12',
    undefined,
    undefined,
    undefined,
  ]));

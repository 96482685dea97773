import type { ExecutionGraph, Task } from '../api/answers';
import { mergeGraph } from './merge-graph';

const task = (id: string, state: string): Task => ({
  id,
  name: id,
  state,
  type: 'RemoteWorkflowTask',
  dependencies: [],
});
const graph = (version: number, ...graphs: [string, Task[]][]): ExecutionGraph => ({
  execution_id: 'e',
  status: 'started',
  is_planned: false,
  error: null,
  stages: [],
  version,
  is_whole: false,
  graphs: graphs.map(([id, operations]) => ({ id, name: id, created_at: null, ended: null, operations })),
});

test('changed tasks are replaced in their place, new ones come behind', () => {
  const known = graph(1, ['g', [task('a', 'started'), task('b', 'pending')]]);
  const merged = mergeGraph(known, graph(2, ['g', [task('c', 'pending'), task('a', 'succeeded')]]));
  expect(merged.version).toBe(2);
  expect(merged.graphs[0]!.operations.map(({ id, state }) => `${id} ${state}`)).toEqual([
    'a succeeded',
    'b pending',
    'c pending',
  ]);
  expect(merged.graphs[0]!.operations[1]).toBe(known.graphs[0]!.operations[1]);
});

test('a graph without changes keeps its list, a new graph is taken, one that is gone goes', () => {
  const known = graph(1, ['old', []], ['g', [task('a', 'started')]]);
  const merged = mergeGraph(known, graph(2, ['g', []], ['new', [task('n', 'pending')]]));
  expect(merged.graphs.map(({ id }) => id)).toEqual(['g', 'new']);
  expect(merged.graphs[0]!.operations).toBe(known.graphs[1]!.operations);
});

test('a whole answer is taken as it is', () => {
  const whole = { ...graph(2, ['g', [task('b', 'started')]]), is_whole: true };
  expect(mergeGraph(graph(1, ['g', [task('a', 'started')]]), whole)).toBe(whole);
});

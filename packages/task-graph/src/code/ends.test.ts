import { advance } from '../advance';
import { type GraphState, graphFromRows, graphFromSpec } from '../graph';
import type { Happening } from '../happening';
import { rowOf } from '../step';
import { drive } from '../testing/driver';
import { CONFIG, fixture, inputOf } from '../testing/fixture';
import { type CodeItem, codeGraph, compileItems } from './compile';

/** The state of tasks after the subgraph or code around them has ended. */

const source = { model: fixture({ n: { ops: ['x.run'] } }), config: CONFIG, isDryRun: false };
const error = { type: 'E', message: 'broken', recoverable: false };
const op = (key: string, more: object = {}) =>
  ({
    key,
    item: 'operation',
    instanceId: 'n_0',
    operation: 'x.run',
    kwargs: {},
    totalRetries: 0,
    ...more,
  }) as CodeItem;
const subgraph = (key: string, more: object = {}) =>
  ({ key, item: 'subgraph', name: key, ...more }) as CodeItem;

let now = 0;
const tell = (graph: GraphState, ...happenings: Happening[]) => advance(graph, happenings, (now += 10));

/** Makes a graph whose code has submitted `items`; they are numbered from 1. */
function withItems(...items: CodeItem[]): GraphState {
  const code = {
    name: 'wf',
    mapping: 'm.run',
    plugin: { name: 'p', packageName: null, packageVersion: null },
  };
  const graph = graphFromSpec(
    codeGraph({ ...code, parameters: {} }, { waitAfterFailMs: 1000, isDryRun: false }),
  );
  const tasks = compileItems(source, items, 1, new Map());
  if (!tasks.ok) throw new Error(tasks.error.message);
  const first = { kind: 'started', idx: 0, attempt: 1 } as const;
  tell(graph, { kind: 'start' }, first, { kind: 'add', tasks: tasks.value });
  return graph;
}

const failed = (idx: number): Happening => ({ kind: 'failed', idx, attempt: 1, error });
const states = (graph: GraphState) => graph.nodes.map(({ state }) => state);
const counted = ({ total, finished }: GraphState) => ({ total, finished });
const stored = (graph: GraphState) => graphFromRows(graph, graph.nodes.map(rowOf), graph.flags);

test('an operation that no worker has claimed is not sent any more after a cancel, also while code goes on', () => {
  const graph = withItems(op('running'), op('unclaimed'));
  const cancelled = tell(graph, { kind: 'started', idx: 1, attempt: 1 }, { kind: 'cancel', mode: 'cancel' });
  expect(cancelled).toMatchObject({ outcome: null, dispatch: [] });
  expect(states(graph)).toEqual(['started', 'started', 'pending']);
  expect(tell(graph, { kind: 'started', idx: 2, attempt: 1 }).refused).toMatchObject([
    { reason: 'not-running' },
  ]);
  tell(graph, { kind: 'succeeded', idx: 0, attempt: 1, result: null });
  expect(graph.active).toBe(1);
});

test('what is sent in the step that ends the graph is not handed out', () => {
  const model = fixture({ a: { ops: ['create'] }, b: { ops: ['create', 'start'] } });
  const record = drive('install', inputOf('install', model, {}, { waitAfterFailMs: 0 }), { cancelAtMs: 0 });
  expect(record.stages[0]!.rows.filter(({ state }) => state === 'sent')).toEqual([]);
});

test('a question in a subgraph that failed is not asked, and the subgraph ends and says so', () => {
  const graph = withItems(
    subgraph('outer'),
    subgraph('inner', { subgraph: 'outer', asksOnFailure: true }),
    op('waits', { subgraph: 'inner' }),
    op('fails', { subgraph: 'outer' }),
  );
  const waits = { message: 'waits', untilExecution: null, checkAfterMs: 40 };
  tell(graph, { kind: 'deferred', idx: 3, attempt: 1, ...waits });
  const { events } = tell(graph, failed(4));
  expect(states(graph)).toEqual(['started', 'failed', 'failed', 'failed', 'failed']);
  expect(events.map(({ message }) => message)).toEqual([
    "Task started 'probe.op'",
    "Task failed 'probe.op' -> broken",
    "Task failed 'probe.op' -> The subgraph around it failed while it waited",
    "Subgraph failed 'inner' -> broken",
    "Subgraph failed 'outer' -> broken",
  ]);
});

test('the code ends a subgraph that asks it, and what is inside has ended before', () => {
  const graph = withItems(
    subgraph('outer', { asksOnFailure: true }),
    subgraph('inner', { subgraph: 'outer' }),
    op('runs', { subgraph: 'inner' }),
    op('later', { subgraph: 'inner', deps: ['runs'] }),
    op('fails', { subgraph: 'outer' }),
    op('after', { deps: ['later'] }),
  );
  tell(graph, failed(5));
  expect(states(graph)[1]).toBe('started');
  tell(graph, { kind: 'succeeded', idx: 3, attempt: 1, result: null });
  expect(states(graph).slice(1, 6)).toEqual(['response-sent', 'failed', 'succeeded', 'pending', 'failed']);
  const decided = { retryAfterMs: null, ignoreTotalRetries: false };
  const answer: Happening = { kind: 'decide', idx: 1, attempt: 0, decision: 'go-on', ...decided };
  // The code goes on: outside dependents of inner tasks wait no longer, and tasks that never ran are not counted.
  expect(tell(stored(graph), answer).dispatch).toEqual([6]);
  expect(tell(graph, answer).dispatch).toEqual([6]);
  expect(counted(graph)).toEqual({ total: 5, finished: 4 });
  expect(counted(stored(graph))).toEqual(counted(graph));
});

test('the code cannot have a task repeated in a subgraph that is failing', () => {
  const graph = withItems(
    subgraph('outer'),
    op('asks', { subgraph: 'outer', asksOnFailure: true }),
    op('fails', { subgraph: 'outer' }),
  );
  tell(graph, failed(2));
  tell(graph, failed(3));
  const more = { decision: 'retry', retryAfterMs: 50, ignoreTotalRetries: true } as const;
  const { added } = tell(graph, { kind: 'decide', idx: 2, attempt: 1, ...more });
  expect([added, graph.waiting, states(graph)[2]]).toEqual([[], 0, 'failed']);
});

test('a success that the code wants repeated is told as one', () => {
  const graph = withItems(op('asks', { asksOnSuccess: true, totalRetries: 1 }));
  tell(graph, { kind: 'succeeded', idx: 1, attempt: 1, result: 7 });
  const again = { decision: 'retry', retryAfterMs: null, ignoreTotalRetries: false } as const;
  const { events, added } = tell(graph, { kind: 'decide', idx: 1, attempt: 1, ...again });
  expect(events.map(({ message }) => message)).toContain("Task succeeded 'probe.op' - 7");
  expect(added).toMatchObject([{ retries: 1 }]);
});

test('tasks that the code gives up are finished, for a graph read from its rows too', () => {
  const graph = withItems(op('first'), op('second', { deps: ['first'] }));
  tell(graph, { kind: 'drop', idxs: [2] });
  expect(counted(graph)).toEqual({ total: 2, finished: 1 });
  expect(counted(stored(graph))).toEqual(counted(graph));
});

test('after a lifecycle that was run again an install has finished all of its operations', () => {
  const model = fixture({ a: { ops: ['create', 'configure', 'start', 'stop', 'delete'] } });
  const record = drive('install', inputOf('install', model, {}, { taskRetries: 0, subgraphRetries: 1 }), {
    run: ({ operation }, nth) =>
      operation.endsWith('create') && nth === 1 ? { kind: 'failed', error } : { kind: 'succeeded' },
    isParanoid: true,
  });
  expect(record.outcome).toBe('succeeded');
  const left = record.stages[0]!.rows.filter(({ state }) => state === 'pending');
  expect(left.length).toBeGreaterThan(0);
  const { total, finished } = graphFromRows(
    { name: 'install', waitAfterFailMs: 0, dryRun: false },
    record.stages[0]!.rows,
    record.stages[0]!.flags,
  );
  expect(finished).toBe(total);
});

test('a late answer does not end the subgraph around it: that is for the resume', () => {
  const rels = [{ to: 't', source: ['establish'], target: ['establish'] }];
  const stage = drive(
    'install',
    inputOf('install', fixture({ t: {}, s: { rels } }), {}, { taskRetries: 0, subgraphRetries: 1 }),
    {
      run: ({ relationship }) =>
        relationship!.side === 'source' ? { kind: 'failed', error } : { kind: 'hang' },
      cancelAtMs: 30,
    },
  ).stages[0]!;
  const graph = graphFromRows(
    { name: 'install', waitAfterFailMs: 0, dryRun: false },
    stage.rows,
    stage.flags,
  );
  const running = graph.nodes.find(({ spec, state }) => spec.kind === 'operation' && state === 'started')!;
  const late = tell(graph, { kind: 'succeeded', idx: running.spec.idx, attempt: 1, result: null });
  expect(late.changes).toMatchObject([{ idx: running.spec.idx, state: 'response-sent' }]);
  expect(late).toMatchObject({ added: [], timers: [], events: [] });
});

import { advance } from '../advance';
import { type GraphState, graphFromRows, graphFromSpec } from '../graph';
import type { Happening } from '../happening';
import { resumeGraph } from '../resume';
import { rowOf } from '../step';
import { CONFIG, fixture } from '../testing/fixture';
import { type CodeItem, codeGraph, compileItems } from './compile';

const CODE = { name: 'wf', mapping: 'm.run', plugin: { name: 'p', packageName: null, packageVersion: null } };
const model = fixture({ n: { ops: ['x.run'], inputs: { declared: 0 }, count: 2 } });
const source = { model, config: CONFIG, isDryRun: false };

function begun(): GraphState {
  const graph = graphFromSpec(
    codeGraph({ ...CODE, parameters: {} }, { waitAfterFailMs: 1000, isDryRun: false }),
  );
  tell(graph, { kind: 'start' }, { kind: 'started', idx: 0, attempt: 1 });
  return graph;
}

let now = 0;
const tell = (graph: GraphState, ...happenings: Happening[]) => advance(graph, happenings, (now += 10));

function submit(graph: GraphState, ...items: CodeItem[]) {
  const known = new Map(graph.nodes.flatMap(({ spec }) => (spec.key ? [[spec.key, spec.idx] as const] : [])));
  const tasks = compileItems(source, items, graph.nodes.length, known);
  if (!tasks.ok) throw new Error(tasks.error.message);
  return tell(graph, { kind: 'add', tasks: tasks.value });
}

const op = (key: string, more: Partial<CodeItem> = {}): CodeItem =>
  ({
    key,
    item: 'operation',
    instanceId: 'n_1',
    operation: 'x.run',
    kwargs: {},
    mayOverride: false,
    ...more,
  }) as CodeItem;

const stored = (graph: GraphState) => graphFromRows(graph, graph.nodes.map(rowOf), graph.flags);
const error = { type: 'E', message: 'broken', recoverable: true };

it('runs the lifecycle of an instance inside a subgraph, which another one waits for', () => {
  const graph = begun();
  const lifecycle = { item: 'lifecycle', direction: 'uninstall', relatedIds: [], isIgnoringFailure: false };
  const around = (id: string, more: object = {}): CodeItem[] => [
    { key: id, item: 'subgraph', name: `around ${id}`, ...more } as CodeItem,
    { ...lifecycle, key: `of ${id}`, subgraph: id, instanceIds: [id] } as CodeItem,
  ];
  const { events } = submit(graph, ...around('n_1'), ...around('n_0', { deps: ['n_1'] }));
  const told = events.flatMap(({ idx, type }) => {
    const { name, kind } = graph.nodes[idx]!.spec;
    return kind === 'subgraph' ? [`${type} ${name}`] : [];
  });
  const ofOne = (id: string) => [
    `task_started around ${id}`,
    `task_started ${id}`,
    `task_succeeded ${id}`,
    `task_succeeded around ${id}`,
  ];
  expect(told).toEqual([...ofOne('n_1'), ...ofOne('n_0')]);
});

describe('tasks that wait for each other', () => {
  const subgraph = (key: string, more: object = {}): CodeItem =>
    ({ key, item: 'subgraph', name: key, ...more }) as CodeItem;
  const event = (key: string, more: object = {}): CodeItem =>
    ({ key, item: 'event', text: key, eventType: 'workflow_stage', ...more }) as CodeItem;

  it('are refused by name, also where only the ends of subgraphs close the circle', () => {
    const graph = begun();
    expect(() =>
      submit(
        graph,
        subgraph('one'),
        subgraph('two'),
        op('a', { subgraph: 'one', deps: ['two'] }),
        op('b', { subgraph: 'two', deps: ['one'] }),
      ),
    ).toThrow(
      /^Tasks of the graph wait for each other: x.run \[b\] -> one \[one\] -> x.run \[a\] -> two \[two\] -> x.run \[b\]$|one \[one\]/,
    );
    expect(() => submit(graph, subgraph('own'), op('m', { subgraph: 'own', deps: ['own'] }))).toThrow(
      'Tasks of the graph wait for each other',
    );
    submit(graph, subgraph('early'), op('c', { subgraph: 'early' }));
    expect(() =>
      submit(graph, event('after', { deps: ['early'] }), op('d', { subgraph: 'early', deps: ['after'] })),
    ).toThrow('Tasks of the graph wait for each other');
  });

  it('do not include subgraphs that follow each other, inside one another, however long', () => {
    const graph = begun();
    const chain = Array.from({ length: 5_000 }, (_, i) =>
      event(`e${i}`, { subgraph: 'inner', deps: i > 0 ? [`e${i - 1}`] : [] }),
    );
    expect(
      submit(
        graph,
        subgraph('outer'),
        subgraph('inner', { subgraph: 'outer' }),
        ...chain,
        subgraph('next', { deps: ['outer'] }),
        op('last', { subgraph: 'next', deps: ['inner'] }),
      ).dispatch,
    ).toHaveLength(1);
  });
});

describe('a graph that workflow code grows', () => {
  it('runs what is submitted in order and ends with the code', () => {
    const graph = begun();
    expect(submit(graph, op('a'), op('b', { deps: ['a'] })).dispatch).toEqual([1]);
    tell(graph, { kind: 'started', idx: 1, attempt: 1 });
    expect(tell(graph, { kind: 'succeeded', idx: 1, attempt: 1, result: 7 }).dispatch).toEqual([2]);
    // A later submission may wait for ended tasks and for unended ones.
    expect(submit(graph, op('c', { deps: ['a'] }), op('d', { deps: ['b'] })).dispatch).toEqual([3]);
    const end = tell(graph, { kind: 'succeeded', idx: 0, attempt: 1, result: null });
    expect(end.outcome).toEqual({ kind: 'succeeded' });
    expect(end.counters).toEqual({ total: 4, finished: 1 });
  });

  it('leaves failures to the code, retries by the policy of the operation', () => {
    const graph = begun();
    submit(graph, op('a', { totalRetries: 1, retryIntervalMs: 5 }), op('b', { deps: ['a'] }));
    const first = tell(graph, { kind: 'failed', idx: 1, attempt: 1, error });
    expect(first.added.map((t) => [t.key, t.retryOf])).toEqual([['a', 1]]);
    tell(graph, { kind: 'due', idx: 3 });
    const second = tell(graph, { kind: 'failed', idx: 3, attempt: 1, error });
    expect([second.outcome, second.flags.failures, graph.nodes[2]!.state]).toEqual([null, [], 'pending']);
    const end = tell(graph, {
      kind: 'failed',
      idx: 0,
      attempt: 1,
      error: { ...error, type: 'WorkflowFailed' },
    });
    expect(end.outcome).toEqual({ kind: 'failed', error: 'broken', failures: [0] });
  });

  it.each([
    [{ kind: 'retry', message: 'again', retryAfterMs: null }, 'OperationRetry: again'],
    [
      { kind: 'deferred', message: 'waits', untilExecution: null, checkAfterMs: 5 },
      'OperationDeferred: A workflow cannot be deferred: waits',
    ],
  ] as const)('fails when its code asks to be run again: %j', (report, text) => {
    const graph = begun();
    const end = tell(graph, { ...report, idx: 0, attempt: 1 });
    expect(end.outcome).toEqual({ kind: 'failed', error: text, failures: [0] });
  });

  it('ends the subgraphs in one that failed, also those whose operation waits', () => {
    const graph = begun();
    submit(
      graph,
      { key: 'outer', item: 'subgraph', name: 'outer' } as CodeItem,
      { key: 'inner', item: 'subgraph', name: 'inner', subgraph: 'outer' } as CodeItem,
      op('waits', { subgraph: 'inner' }),
      op('fails', { subgraph: 'outer', totalRetries: 0 }),
    );
    tell(graph, {
      kind: 'deferred',
      idx: 3,
      attempt: 1,
      message: 'waits',
      untilExecution: null,
      checkAfterMs: 40,
    });
    tell(graph, { kind: 'failed', idx: 4, attempt: 1, error });
    const state = (key: string) => graph.nodes.find(({ spec }) => spec.key === key)!.state;
    expect(['outer', 'inner', 'waits', 'fails'].map(state)).toEqual(['failed', 'failed', 'failed', 'failed']);
    expect(tell(graph, { kind: 'due', idx: 3 }).dispatch).toEqual([]);
  });

  it('asks the code what follows, also after a restart of the engine', () => {
    let graph = begun();
    submit(graph, op('a', { asksOnFailure: true }), op('b', { deps: ['a'] }));
    tell(graph, { kind: 'failed', idx: 1, attempt: 1, error });
    graph = stored(graph);
    expect(graph.nodes[1]!.state).toBe('response-sent');
    const decided = { idx: 1, attempt: 1, retryAfterMs: null, ignoreTotalRetries: false };
    expect(tell(graph, { kind: 'decide', ...decided, attempt: 9, decision: 'go-on' }).refused).toHaveLength(
      1,
    );
    expect(tell(graph, { kind: 'decide', ...decided, decision: 'go-on' }).dispatch).toEqual([2]);
    expect(stored(graph).nodes[2]!.blockers).toBe(0);
  });

  it('repeats what succeeded as often as the task may be retried', () => {
    const graph = begun();
    submit(graph, op('a', { asksOnSuccess: true, totalRetries: 1, retryIntervalMs: 5 }));
    const again = (idx: number) => {
      tell(graph, { kind: 'succeeded', idx, attempt: 1, result: idx });
      const decided = { retryAfterMs: null, ignoreTotalRetries: false };
      return tell(graph, { kind: 'decide', idx, attempt: 1, decision: 'retry', ...decided });
    };
    expect(again(1).added).toHaveLength(1);
    tell(graph, { kind: 'due', idx: 2 });
    expect(again(2).added).toEqual([]);
    expect(graph.nodes[2]).toMatchObject({ state: 'failed', error: { type: 'RuntimeError' } });
  });

  it('does not run code again that has not said it may be', () => {
    const graph = begun();
    const lost = tell(graph, { kind: 'lost', idx: 0, attempt: 1 });
    expect(lost.outcome).toMatchObject({ kind: 'failed', error: expect.stringContaining('not resumable') });
  });

  it('ends with what its code threw and where, once', () => {
    const endedWith = (traceback: string | null) => {
      const thrown = { type: 'TypeError', message: 'no list', recoverable: true, traceback };
      const { outcome } = tell(begun(), { kind: 'failed', idx: 0, attempt: 1, error: thrown });
      return outcome?.kind === 'failed' ? outcome.error : null;
    };
    expect(endedWith('    at run (wf.js:1:2)\n')).toBe('TypeError: no list\n    at run (wf.js:1:2)');
    expect(endedWith('  line 4\nTypeError: no list\n')).toBe('  line 4\nTypeError: no list');
    expect(endedWith(null)).toBe('TypeError: no list');
  });

  it('runs resumable code again as the next attempt', () => {
    const graph = begun();
    tell(graph, { kind: 'declare-resumable' });
    expect(tell(graph, { kind: 'lost', idx: 0, attempt: 1 }).dispatch).toEqual([0]);
    expect(graph.nodes[0]!.attempt).toBe(2);
    expect(tell(graph, { kind: 'succeeded', idx: 0, attempt: 1, result: null }).refused).toHaveLength(1);
  });

  it('waits for running code after a cancel, starts nothing more, and does not wait when it is forced', () => {
    const graph = begun();
    submit(graph, op('a'), op('b', { deps: ['a'] }));
    expect(tell(graph, { kind: 'cancel', mode: 'cancel' }).outcome).toBeNull();
    expect(tell(graph, { kind: 'succeeded', idx: 1, attempt: 1, result: null }).dispatch).toEqual([]);
    const forced = stored(graph);
    expect(tell(forced, { kind: 'cancel', mode: 'kill' }).outcome).toEqual({ kind: 'cancelled' });
    const end = tell(graph, { kind: 'succeeded', idx: 0, attempt: 1, result: null });
    expect(end.outcome).toEqual({ kind: 'cancelled' });
  });

  it('is cancelled at once when no worker has begun with the code, or when its worker is lost', () => {
    const fresh = graphFromSpec(
      codeGraph({ ...CODE, parameters: {} }, { waitAfterFailMs: 0, isDryRun: false }),
    );
    tell(fresh, { kind: 'start' });
    expect(tell(fresh, { kind: 'cancel', mode: 'cancel' }).outcome).toEqual({ kind: 'cancelled' });
    const graph = begun();
    tell(graph, { kind: 'declare-resumable' }, { kind: 'cancel', mode: 'cancel' });
    expect(tell(graph, { kind: 'lost', idx: 0, attempt: 1 }).outcome).toEqual({ kind: 'cancelled' });
  });

  it('goes on after a resume with the code as a new attempt and what failed again', () => {
    const graph = begun();
    submit(graph, op('a'), op('b', { totalRetries: 0 }));
    tell(
      graph,
      { kind: 'succeeded', idx: 1, attempt: 1, result: 1 },
      { kind: 'failed', idx: 2, attempt: 1, error },
    );
    tell(graph, { kind: 'failed', idx: 0, attempt: 1, error });
    const resumed = resumeGraph(graph, graph.nodes.map(rowOf), { force: false, now, resumable: true });
    expect(resumed.decision.dispatch).toEqual([0, 2]);
    expect([resumed.graph.nodes[0]!.attempt, resumed.graph.flags.resumable]).toEqual([2, true]);
  });

  it('hands steps to the code and drops what nobody waits for', () => {
    const graph = begun();
    submit(graph, { key: 's', item: 'step', name: 'mine' }, op('a', { deps: ['s'] }));
    expect(graph.nodes[1]).toMatchObject({ state: 'started', attempt: 1 });
    tell(graph, { kind: 'drop', idxs: [2] });
    expect(tell(graph, { kind: 'succeeded', idx: 1, attempt: 1, result: 'x' }).dispatch).toEqual([]);
  });

  it('says what is wrong with a submission', () => {
    const wrong = (item: CodeItem) => {
      const made = compileItems(source, [item], 1, new Map());
      return made.ok ? made.value : made.error.message;
    };
    expect(wrong(op('a', { deps: ['z'] }))).toContain('no task with the key z');
    expect(wrong(op('a', { instanceId: 'nope' } as never))).toContain('No node instance with id `nope`');
    expect(wrong(op('a', { kwargs: { declared: 1 } } as never))).toContain(
      'Duplicate definition of declared',
    );
    expect(wrong(op('a', { operation: 'x.other' } as never))).toMatchObject([{ kind: 'nop' }]);
  });
});

import { resumeGraph } from './resume';
import type { TaskError } from './task';
import { broken, type DriverOptions, drive, labels, ok } from './testing/driver';
import { fixture, inputOf } from './testing/fixture';
import { stopAndResume } from './testing/stop-and-resume';
import { nextStage } from './workflows/registry';

/** The resume after a failure or a cancel (reference workflows.md 2.8, 2.9). */

const FAIL_B: DriverOptions = { run: (p) => (p.nodeId === 'b' ? broken() : ok()) };

test('only what failed runs again, with what waited for it', () => {
  const nodes = {
    a: { ops: ['create'] },
    b: { ops: ['configure'], rels: ['a'] },
    c: { ops: ['create'], rels: ['b'] },
  };
  const { stopped, record, model } = stopAndResume('install', nodes, FAIL_B)!;
  expect(stopped.outcome).toBe('failed');
  expect(labels(record)).toEqual(['configure b', 'create c']);
  expect(record.outcome).toBe('succeeded');
  expect(model.nodeInstances.map((i) => i.state)).toEqual(['started', 'started', 'started']);
});

test('predecessors that were retried before are not run again', () => {
  const model = fixture({ a: { ops: ['create'] }, b: { ops: ['configure'], rels: ['a'] } });
  const input = inputOf('install', model, {}, { taskRetries: 1 });
  const stopped = drive('install', input, {
    run: (p, nth) => (p.nodeId === 'b' ? broken() : nth === 1 ? broken(true) : ok()),
  });
  const rows = stopped.stages[0]!.rows;
  const { graph, decision } = resumeGraph({ name: 'install', waitAfterFailMs: 0, dryRun: false }, rows, {
    force: true,
    now: 0,
  });
  expect(decision.dispatch.map((idx) => graph.nodes[idx]!.spec.payload)).toEqual([
    expect.objectContaining({ nodeId: 'b' }),
  ]);
  expect(graph.nodes[decision.dispatch[0]!]).toMatchObject({ retries: 0, attempt: 2 });
});

test('what a lost worker had begun is asked for anew: it does not count as lost any more', () => {
  const model = fixture({ a: { ops: ['create'] } });
  const stopped = drive('install', inputOf('install', model), { run: () => broken() });
  const rows = stopped.stages[0]!.rows.map((row) => (row.kind === 'operation' ? { ...row, losses: 2 } : row));
  const head = { name: 'install', waitAfterFailMs: 0, dryRun: false };
  const { graph, decision } = resumeGraph(head, rows, { force: false, now: 0 });
  expect(decision.dispatch.map((idx) => graph.nodes[idx]!.losses)).toEqual([0]);
});

test.each([
  [
    'create',
    ['delete b', 'postdelete b', 'create b', 'start b'],
    [
      'Deleting node instance',
      'Deleted node instance',
      'Postdeleting node instance',
      'Node instance postdeleted',
    ],
  ],
  [
    'start',
    ['prestop b', 'stop b', 'start b'],
    ['Prestopping node instance', 'Node instance prestopped', 'Stopped node instance'],
  ],
])('a resumed install cleans up after a failed %s', (op, calls, told) => {
  const ops = ['create', 'start', 'prestop', 'stop', 'delete', 'postdelete'];
  const { stopped, record, model } = stopAndResume(
    'install',
    { b: { ops } },
    {
      run: (p) => (p.operation.endsWith(`.${op}`) ? broken() : ok()),
    },
  )!;
  expect(stopped.outcome).toBe('failed');
  expect(labels(record)).toEqual(calls);
  expect(record.outcome).toBe('succeeded');
  expect(model.nodeInstances[0]!.state).toBe('started');
  const said = record.events.filter((e) => e.type === 'workflow_node_event').map((e) => e.message);
  expect(said.slice(0, told.length + 2)).toEqual([
    'Rolling back prior to resuming install',
    ...told,
    'Finished rolling back, now resuming install',
  ]);
});

test('subgraphs that a resume goes on with say again that they have started, others do not', () => {
  const nodes = { a: { ops: ['create'] }, b: { ops: ['configure'], rels: ['a'] } };
  const { record } = stopAndResume('install', nodes, FAIL_B)!;
  const started = record.events.filter((e) => e.message.startsWith('Subgraph started'));
  expect(started.map((e) => e.message)).toEqual(["Subgraph started 'install_b_0'"]);
});

test('an answer that came after the cancel counts on resume', () => {
  const nodes = { a: { ops: ['create', 'start'] } };
  const late: DriverOptions = { cancelAtMs: 5, durationMs: () => 10 };
  const model = fixture(nodes);
  const input = inputOf('install', model);
  const stopped = drive('install', input, late);
  expect(stopped.outcome).toBe('cancelled');
  const rows = stopped.stages[0]!.rows.map((row) =>
    row.state === 'started' && row.kind === 'operation'
      ? { ...row, state: 'response-sent' as const, result: 1 }
      : row,
  );
  const { graph, decision } = resumeGraph({ name: 'install', waitAfterFailMs: 0, dryRun: false }, rows, {
    force: false,
    now: 9,
  });
  expect(decision.events.map((e) => e.message)).toContain("Task succeeded 'probe.op' - 1");
  expect(graph.nodes[decision.dispatch[0]!]!.spec.payload).toMatchObject({
    operation: 'cloudify.interfaces.lifecycle.start',
  });
});

test.each([
  ['failed', { type: 'E', message: 'm', recoverable: true }],
  ['rescheduled', { type: 'OperationRetry', message: 'm', recoverable: true, retryAfterMs: 5 }],
] as const)('a late answer that is no success leads to a retry as ever: %s', (state, error) => {
  const stopped = drive('install', inputOf('install', fixture({ a: { ops: ['create'] } })), {
    cancelAtMs: 5,
  });
  const rows = stopped.stages[0]!.rows.map((row) =>
    row.state === 'started' && row.kind === 'operation'
      ? { ...row, state: 'response-sent' as const, error }
      : row,
  );
  const { decision } = resumeGraph({ name: 'install', waitAfterFailMs: 0, dryRun: false }, rows, {
    force: false,
    now: 9,
  });
  expect(decision.changes).toContainEqual(expect.objectContaining({ state }));
  expect(decision.added).toEqual([expect.objectContaining({ retries: 1, state: 'pending' })]);
});

test('what is still running is waited for, and run again only by force', () => {
  const stopped = drive('install', inputOf('install', fixture({ a: { ops: ['create'] } })), {
    cancelAtMs: 5,
  });
  const head = { name: 'install', waitAfterFailMs: 0, dryRun: false };
  const rows = stopped.stages[0]!.rows;
  expect(resumeGraph(head, rows, { force: false, now: 9 }).decision).toMatchObject({
    dispatch: [],
    outcome: null,
  });
  const forced = resumeGraph(head, rows, { force: true, now: 9 });
  expect(forced.graph.nodes[forced.decision.dispatch[0]!]).toMatchObject({ attempt: 2, state: 'sent' });
});

test('what succeeded after the cancel is done: force does not run it again, what failed then it does', () => {
  const ops = { ops: ['create', 'start'] };
  const stopped = drive('install', inputOf('install', fixture({ a: ops })), { cancelAtMs: 5 });
  const head = { name: 'install', waitAfterFailMs: 0, dryRun: false };
  const dispatched = (error: TaskError | null) => {
    const rows = stopped.stages[0]!.rows.map((row) =>
      row.state === 'started' ? { ...row, state: 'response-sent' as const, error } : row,
    );
    const { graph, decision } = resumeGraph(head, rows, { force: true, now: 9 });
    return decision.dispatch.map(
      (idx) => (graph.nodes[idx]!.spec.payload as { operation: string }).operation,
    );
  };
  expect(dispatched(null)).toEqual([expect.stringMatching(/start$/)]);
  expect(dispatched({ type: 'E', message: 'broken', recoverable: true })).toEqual([
    expect.stringMatching(/create$/),
  ]);
});

test('a restart cancelled in its first graph goes on with the second', () => {
  const nodes = { a: { ops: ['stop', 'start'], state: 'started' } };
  const { stopped, record } = stopAndResume('restart', nodes, { cancelAtMs: 5 }, { force: true })!;
  expect(stopped.outcome).toBe('cancelled');
  expect(labels(record)).toEqual(['stop a', 'start a']);
  expect(record.outcome).toBe('succeeded');
});

test('an ignored failure and a run that was replaced stay as they are', () => {
  const model = fixture({
    a: { ops: ['stop', 'delete'], state: 'started' },
    b: { ops: ['stop'], rels: ['a'], state: 'started' },
  });
  const input = inputOf('uninstall', model, { ignore_failure: true });
  const stopped = drive('uninstall', input, { run: () => broken(), cancelAtMs: 15 });
  const { decision, graph } = resumeGraph(
    { name: 'uninstall', waitAfterFailMs: 0, dryRun: false },
    stopped.stages[0]!.rows,
    { force: true, now: 20 },
  );
  expect(
    decision.dispatch.map((idx) => (graph.nodes[idx]!.spec.payload as { nodeId: string }).nodeId),
  ).toEqual(['a']);
});

test('heal is refused on resume', () => {
  const stage = nextStage('heal', { ...inputOf('heal', fixture({})), resume: true }, []);
  expect(stage).toMatchObject({
    kind: 'end',
    error: { message: 'Cannot resume - workflow not resumable: heal' },
  });
});

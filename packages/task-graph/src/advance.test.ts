import { advance, MAX_LOSSES } from './advance';
import { graphFromSpec } from './graph';
import { undoDecision } from './step';
import type { GraphSpec, OperationTask } from './task';
import { broken, type Call, drive, labels, newWorld, ok, runGraph } from './testing/driver';
import { fixture, inputOf } from './testing/fixture';
import { nextStage } from './workflows/registry';

/** The step function as its caller sees it: reports, timers, failures, cancels. */

function specOf(nodes: Parameters<typeof fixture>[0], config = {}): GraphSpec {
  const stage = nextStage('install', inputOf('install', fixture(nodes), {}, config), []);
  if (stage.kind !== 'graph') throw new Error('install begins with a graph');
  return stage.spec;
}

function started(spec: GraphSpec) {
  const graph = graphFromSpec(spec);
  const decision = advance(graph, [{ kind: 'start' }], 0);
  return { graph, decision, idx: decision.dispatch[0]! };
}

const ONE = { a: { ops: ['create'] } };

test('a chain between two operations is one step', () => {
  const { graph, decision, idx } = started(specOf({ a: { ops: ['create', 'start'] } }));
  expect(decision.dispatch).toHaveLength(1);
  expect(decision.instanceStates.map((s) => s.state)).toEqual(['initializing', 'creating']);
  const next = advance(graph, [{ kind: 'succeeded', idx, attempt: 1, result: 7 }], 5);
  expect(next.dispatch).toHaveLength(1);
  expect(next.instanceStates.map((s) => s.state)).toEqual(['created', 'starting']);
  expect(next.events.map((e) => `${e.type}: ${e.message}`)).toEqual([
    "task_started: Task started 'probe.op'",
    "task_succeeded: Task succeeded 'probe.op' - 7",
    'workflow_node_event: Node instance created',
    'workflow_node_event: Configuring node instance: nothing to do',
    'workflow_node_event: Starting node instance',
    "sending_task: Sending task 'probe.op'",
  ]);
});

test.each([
  [{ kind: 'succeeded', idx: 999, attempt: 1, result: null }, 'unknown-task'],
  [{ kind: 'succeeded', idx: 0, attempt: 0, result: null }, 'unknown-task'],
  [{ kind: 'succeeded', idx: -1, attempt: 2, result: null }, 'stale-attempt'],
] as const)('a report that is not of the current attempt is refused: %j', (report, reason) => {
  const { graph, idx } = started(specOf(ONE));
  const before = graph.nodes.map((n) => n.state);
  const decision = advance(graph, [{ ...report, idx: report.idx < 0 ? idx : report.idx }], 1);
  expect(decision.refused).toEqual([expect.objectContaining({ reason })]);
  expect(decision.changes).toEqual([]);
  expect(graph.nodes.map((n) => n.state)).toEqual(before);
});

test('a second result of the same attempt is refused', () => {
  const { graph, idx } = started(specOf(ONE));
  const report = { kind: 'succeeded' as const, idx, attempt: 1, result: null };
  expect(advance(graph, [report, report], 1).refused).toEqual([{ idx, attempt: 1, reason: 'not-running' }]);
});

test('undo takes the latest decision back and no other', () => {
  const { graph, decision, idx } = started(specOf(ONE));
  const next = advance(
    graph,
    [{ kind: 'failed', idx, attempt: 1, error: { type: 'E', message: 'm', recoverable: true } }],
    1,
  );
  expect(next.added).toHaveLength(1);
  expect(() => undoDecision(graph, decision)).toThrow(RangeError);
  undoDecision(graph, next);
  expect(graph.nodes).toHaveLength(next.added[0]!.idx);
  expect(graph.nodes[idx]!.state).toBe('sent');
  expect(() => undoDecision(graph, next)).toThrow(RangeError);
});

test('a lost run is the next attempt, and too many of them are a failure', () => {
  const { graph, idx } = started(specOf(ONE));
  for (let attempt = 1; attempt <= MAX_LOSSES; attempt++) {
    const lost = advance(
      graph,
      [
        { kind: 'started', idx, attempt },
        { kind: 'lost', idx, attempt },
      ],
      attempt,
    );
    expect(lost.dispatch).toEqual([idx]);
    expect(lost.changes.find((c) => c.idx === idx)).toMatchObject({
      state: 'sent',
      attempt: attempt + 1,
      losses: attempt,
    });
  }
  const attempt = MAX_LOSSES + 1;
  const end = advance(
    graph,
    [
      { kind: 'started', idx, attempt },
      { kind: 'lost', idx, attempt },
    ],
    9,
  );
  expect(end.dispatch).toEqual([]);
  expect(end.outcome).toMatchObject({ kind: 'failed', error: expect.stringContaining('WorkerLost') });
});

test('a run that was stopped and should not have been is no loss of a worker', () => {
  const { graph, idx } = started(specOf(ONE));
  const lost = advance(
    graph,
    [
      { kind: 'started', idx, attempt: 1 },
      { kind: 'lost', idx, attempt: 1, isUnwanted: true },
    ],
    1,
  );
  expect(lost.dispatch).toEqual([idx]);
  expect(lost.changes.find((c) => c.idx === idx)).toMatchObject({ state: 'sent', attempt: 2, losses: 0 });
});

test('a message lost before anybody claimed it is no loss of a worker', () => {
  const { graph, idx } = started(specOf(ONE));
  const lost = advance(graph, [{ kind: 'lost', idx, attempt: 1 }], 1);
  expect(lost.changes.find((c) => c.idx === idx)).toMatchObject({ attempt: 2, losses: 0 });
});

test('retries wait for their time, count in the texts, and keep to the interval that was asked for', () => {
  const { graph, idx } = started(specOf(ONE, { taskRetries: 5, taskRetryIntervalMs: 1000 }));
  const again = advance(
    graph,
    [{ kind: 'retry', idx, attempt: 1, message: 'not yet', retryAfterMs: 30 }],
    100,
  );
  const retry = again.added[0]!;
  expect(again.timers).toEqual([{ idx: retry.idx, at: 130 }]);
  expect(retry).toMatchObject({ retryOf: idx, retries: 1, notBefore: 130, state: 'pending' });
  expect(again.events.at(-1)!.message).toBe("Task rescheduled 'probe.op' -> not yet");
  expect(advance(graph, [{ kind: 'due', idx: retry.idx }], 129).dispatch).toEqual([]);
  const due = advance(graph, [{ kind: 'due', idx: retry.idx }], 130);
  expect(due.dispatch).toEqual([retry.idx]);
  expect(due.events.at(-1)!.message).toBe("Sending task 'probe.op' [retry 1/5]");
  expect(advance(graph, [{ kind: 'due', idx: retry.idx }], 131).dispatch).toEqual([]);
});

test('an endless retry has no total in its text', () => {
  const model = fixture(ONE);
  const record = drive('install', inputOf('install', model, {}, { taskRetries: -1 }), {
    run: (_, nth) => (nth <= 5 ? broken(true) : ok()),
  });
  expect(record.calls).toHaveLength(6);
  expect(record.events.map((e) => e.message)).toContain("Task succeeded 'probe.op' [retry 5]");
});

test.each([
  [false, 'NonRecoverableError', 1],
  [true, 'RecoverableError', 3],
])('a time limit that is recoverable: %s', (isRecoverable, type, runs) => {
  const over = { create: { timeout: 7, timeout_recoverable: isRecoverable } };
  const model = fixture({ a: { ops: ['create'], over } });
  const record = drive('install', inputOf('install', model), { run: () => ({ kind: 'timed-out' }) });
  expect(record.calls).toHaveLength(runs);
  expect(record.error!.message).toContain(`${type} \`Process killed due to timeout of 7 seconds\``);
});

test.each([
  [0, ['create a', 'create b'], 0],
  [100, ['create a', 'create b', 'start b'], 1],
])('after a failure others have %i ms', (waitAfterFailMs, calls, succeeded) => {
  const model = fixture({ a: { ops: ['create'] }, b: { ops: ['create', 'start'] } });
  const record = drive('install', inputOf('install', model, {}, { waitAfterFailMs }), {
    run: (p) => (p.nodeId === 'a' ? broken() : ok()),
    durationMs: (p) => (p.nodeId === 'a' ? 5 : 70),
  });
  expect(record.outcome).toBe('failed');
  expect(labels(record)).toEqual(calls);
  expect(record.events.filter((e) => e.type === 'task_succeeded' && e.operation)).toHaveLength(succeeded);
});

test('nothing is dispatched in the step that ends the graph', () => {
  const { graph, decision } = started(
    specOf(
      { a: { ops: ['create'] }, b: { ops: ['create', 'start'] }, c: { ops: ['create'] } },
      { waitAfterFailMs: 50 },
    ),
  );
  const [a, b, c] = decision.dispatch as [number, number, number];
  const error = { type: 'E', message: 'm', recoverable: false };
  expect(advance(graph, [{ kind: 'failed', idx: a, attempt: 1, error }], 0).outcome).toBeNull();
  const late = [
    { kind: 'succeeded' as const, idx: b, attempt: 1, result: null },
    { kind: 'lost' as const, idx: c, attempt: 1 },
  ];
  expect(advance(graph, late, 50)).toMatchObject({
    dispatch: [],
    outcome: { kind: 'failed', failures: [a] },
  });
});

test('independent tasks go on beside a failure, and the text names every one', () => {
  const model = fixture({
    a: { ops: ['create'] },
    b: { ops: ['create', 'start'] },
    c: { ops: ['create'], rels: ['a'] },
  });
  const record = drive('install', inputOf('install', model), {
    run: (p) => (p.nodeId === 'a' || p.operation.endsWith('start') ? broken() : ok()),
  });
  expect(labels(record)).toEqual(['create a', 'create b', 'start b']);
  expect(record.error).toEqual({
    type: 'WorkflowFailed',
    message: [
      '2 operation errors:',
      'probe.op (a_0:cloudify.interfaces.lifecycle.create): NonRecoverableError `boom`',
      'probe.op (b_0:cloudify.interfaces.lifecycle.start): NonRecoverableError `boom`',
    ].join('\n'),
  });
});

test('a cancel ends the graph at once; what still runs answers late and changes nothing else', () => {
  const { graph, idx } = started(specOf({ a: { ops: ['create'] }, b: { ops: ['create'], rels: ['a'] } }));
  advance(graph, [{ kind: 'started', idx, attempt: 1 }], 1);
  const cancelled = advance(graph, [{ kind: 'cancel', mode: 'cancel' }], 1);
  expect(cancelled.outcome).toEqual({ kind: 'cancelled' });
  const late = advance(graph, [{ kind: 'succeeded', idx, attempt: 1, result: 'r' }], 2);
  expect(late.changes).toEqual([expect.objectContaining({ idx, state: 'response-sent', result: 'r' })]);
  expect(late).toMatchObject({ dispatch: [], instanceStates: [], outcome: null });
});

test('a cancel before the start and one in the middle of a long wait are prompt', () => {
  const graph = graphFromSpec(specOf(ONE));
  expect(advance(graph, [{ kind: 'cancel', mode: 'kill' }], 0)).toMatchObject({
    dispatch: [],
    outcome: { kind: 'cancelled' },
  });
  const record = drive('install', inputOf('install', fixture(ONE), {}, { taskRetryIntervalMs: 1e9 }), {
    run: () => broken(true),
    cancelAtMs: 20,
  });
  expect(record).toMatchObject({ outcome: 'cancelled', elapsedMs: 20 });
});

test('dependencies in a circle fail with a reason instead of waiting for ever', () => {
  const record = drive(
    'install',
    inputOf('install', fixture({ a: { ops: ['create'], rels: ['b'] }, b: { rels: ['a'] } })),
  );
  expect(record.outcome).toBe('failed');
  expect(record.error!.message).toContain('cycle');
});

test('the host state is asked for until it is true, whatever the limit of retries', () => {
  const ops = ['start', 'cloudify.interfaces.host.get_state'];
  const model = fixture({
    h: { ops, types: ['cloudify.nodes.Compute'], properties: { install_agent: false } },
  });
  const record = drive('install', inputOf('install', model, {}, { taskRetries: 0 }), {
    run: (p, nth) => ok(p.operation.endsWith('get_state') ? nth > 3 : null),
  });
  expect(record.outcome).toBe('succeeded');
  expect(labels(record).filter((l) => l === 'get_state h')).toHaveLength(4);
});

test('a re-run waits until every operation of the failed run has ended', () => {
  const source = ['establish'];
  const nodes = { t: { count: 2 }, s: { ops: ['create', 'stop', 'delete'], rels: [{ to: 't', source }] } };
  const record = drive(
    'install',
    inputOf('install', fixture(nodes), {}, { taskRetries: 0, subgraphRetries: 1 }),
    {
      run: (p, nth) => (p.relationship?.targetId === 't_0' && nth === 1 ? broken() : ok()),
      durationMs: (p) => (p.relationship?.targetId === 't_1' ? 500 : 10),
      isParanoid: true,
    },
  );
  expect(record.outcome).toBe('succeeded');
  const slow = record.calls.filter((c: Call) => c.label === 'establish s->t' && c.to - c.from === 500);
  expect(record.calls.find((c) => c.label === 'delete s')!.from).toBeGreaterThanOrEqual(slow[0]!.to);
});

test.each([true, false])(
  'who waited for one operation of a failed run waits for the re-run (rebuilt each step: %s)',
  (isParanoid) => {
    const nodes = {
      t: { ops: ['create', 'start', 'stop', 'delete'] },
      s: { ops: ['create'], rels: [{ to: 't', properties: { operation: 'create' } }] },
    };
    const record = drive('install', inputOf('install', fixture(nodes), {}, { subgraphRetries: 1 }), {
      run: (p, nth) => (p.operation.endsWith('create') && p.nodeId === 't' && nth === 1 ? broken() : ok()),
      isParanoid,
    });
    expect(record.outcome).toBe('succeeded');
    expect(labels(record)).toEqual(['create t', 'stop t', 'delete t', 'create t', 'start t', 'create s']);
  },
);

test('a timer of a task that still waits for others starts nothing', () => {
  const { graph } = started(specOf({ a: { ops: ['create', 'start'] } }));
  const blocked = graph.nodes.findIndex((n) => n.spec.kind === 'operation' && n.state === 'pending');
  expect(
    advance(
      graph,
      [
        { kind: 'due', idx: blocked },
        { kind: 'due', idx: 9999 },
      ],
      1,
    ).dispatch,
  ).toEqual([]);
});

test('a retry that waits inside a failing subgraph is given up with it', () => {
  const rels = [{ to: 't', source: ['establish'], target: ['establish'] }];
  const record = drive(
    'install',
    inputOf('install', fixture({ t: {}, s: { rels } }), {}, { taskRetryIntervalMs: 1e6 }),
    {
      run: (p) => broken(p.relationship!.side === 'source'),
      durationMs: (p) => (p.relationship!.side === 'source' ? 5 : 20),
      isParanoid: true,
    },
  );
  expect(record).toMatchObject({ outcome: 'failed', elapsedMs: 20, calls: { length: 2 } });
});

test.each([
  [
    { kind: 'failed', error: { type: 'E', message: 'm', recoverable: true } },
    { state: 'response-sent', error: { message: 'm' } },
  ],
  [
    { kind: 'retry', message: 'm', retryAfterMs: 5 },
    { state: 'response-sent', error: { type: 'OperationRetry' } },
  ],
  [{ kind: 'timed-out' }, { state: 'response-sent', error: { type: 'NonRecoverableError' } }],
  [{ kind: 'lost' }, { state: 'pending', losses: 1 }],
] as const)('after the end an answer is only kept: %j', (answer, status) => {
  const { graph, idx } = started(specOf(ONE));
  advance(
    graph,
    [
      { kind: 'started', idx, attempt: 1 },
      { kind: 'cancel', mode: 'cancel' },
    ],
    1,
  );
  const late = advance(graph, [{ ...answer, idx, attempt: 1 }], 2);
  expect(late.changes).toEqual([
    expect.objectContaining({
      idx,
      ...status,
      ...('error' in status && { error: expect.objectContaining(status.error) }),
    }),
  ]);
  expect(late).toMatchObject({ dispatch: [], added: [], outcome: null });
});

test('a traceback stands behind the errors', () => {
  const error = { type: 'E', message: 'm', recoverable: false, traceback: 'line 1' };
  const record = drive('install', inputOf('install', fixture(ONE)), {
    run: () => ({ kind: 'failed', error }),
  });
  expect(record.error!.message).toBe(
    'Task failed: probe.op (a_0:cloudify.interfaces.lifecycle.create): E `m`\n' +
      'Traceback of probe.op (a_0:cloudify.interfaces.lifecycle.create) (most recent call last):\nline 1',
  );
  const failure = record.events.find((e) => e.type === 'task_failed')!;
  expect(failure.errorCauses).toEqual([{ type: 'E', message: 'm', traceback: 'line 1' }]);
});

test('the texts of events and errors are the beginnings of large results and failures', () => {
  const huge = 'x'.repeat(1_000_000);
  const done = drive('install', inputOf('install', fixture(ONE)), { run: () => ok([huge]) });
  const told = done.events.find((e) => e.type === 'task_succeeded' && e.message.includes('x'))!.message;
  expect(told).toMatch(/^Task succeeded 'probe.op' - \["x{65534} \.\.\. \(1000004 characters\)$/);
  const error = { type: 'E', message: huge, recoverable: false, traceback: huge };
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`n${i}`, { ops: ['create'] }]));
  const record = drive('install', inputOf('install', fixture(many)), {
    run: () => ({ kind: 'failed', error }),
  });
  expect(record.error!.message).toMatch(/^50 operation errors:\nprobe.op \(n0_0:/);
  expect(record.error!.message).toContain('probe.op (n3_0:');
  expect(record.error!.message.length).toBeLessThan(140_000);
});

test('a graph of many tasks costs what changes, not what there is', () => {
  const nodes: Parameters<typeof fixture>[0] = {};
  for (let i = 0; i < 700; i++) nodes[`n${i}`] = { ops: ['create', 'start'] };
  const { graph, decision } = started(specOf(nodes));
  expect(graph.nodes.length).toBeGreaterThan(10_000);
  const first = decision.dispatch[0]!;
  const next = advance(graph, [{ kind: 'succeeded', idx: first, attempt: 1, result: null }], 1);
  expect(next.changes.length).toBeLessThan(10);
  expect(graph.nodes[first]!.spec).toMatchObject({ kind: 'operation' } satisfies Partial<OperationTask>);
});

test('an empty graph has succeeded as soon as it starts', () => {
  const world = newWorld(fixture({}), {});
  expect(runGraph(world, specOf({}))).toMatchObject({ outcome: { kind: 'succeeded' } });
});

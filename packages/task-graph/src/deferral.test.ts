import { advance, MAX_LOSSES } from './advance';
import { type GraphState, graphFromRows, graphFromSpec } from './graph';
import type { Happening } from './happening';
import { resumeGraph } from './resume';
import { rowOf } from './step';
import type { GraphSpec } from './task';
import { drive, labels } from './testing/driver';
import { fixture, inputOf } from './testing/fixture';
import { stopAndResume } from './testing/stop-and-resume';
import { nextStage } from './workflows/registry';

/** Operations that wait without a worker. */

const EXECUTION = '0198d7a0-0000-7000-8000-000000000001';
const ONE = { a: { ops: ['start'] } };

function begun(timeout: number | null = null) {
  const stage = nextStage('install', inputOf('install', fixture(ONE), {}, { taskRetries: 0 }), []);
  if (stage.kind !== 'graph') throw new Error('install begins with a graph');
  const spec: GraphSpec = stage.spec;
  for (const task of spec.tasks) if (task.kind === 'operation') task.payload.timeout = timeout;
  const graph = graphFromSpec(spec);
  const idx = advance(graph, [{ kind: 'start' }], 0).dispatch[0]!;
  return { spec, graph, idx };
}

const deferred = (idx: number, attempt: number, more: object = {}): Happening => ({
  kind: 'deferred',
  idx,
  attempt,
  message: 'the install of child',
  untilExecution: EXECUTION,
  checkAfterMs: 60_000,
  ...more,
});

const statusAt = (graph: GraphState, idx: number) => rowOf(graph.nodes[idx]!);

test('it leaves its worker, is no try, and looks when it is woken: as the next attempt, without events of its own', () => {
  const { graph, idx } = begun();
  const waits = advance(graph, [{ kind: 'started', idx, attempt: 1 }, deferred(idx, 1)], 100);
  expect(waits).toMatchObject({ added: [], dispatch: [], outcome: null, timers: [{ idx, at: 60_100 }] });
  expect(waits.events.map((e) => `${e.type}: ${e.message}`)).toEqual([
    "task_started: Task started 'probe.op'",
    'log: the install of child',
  ]);
  expect(statusAt(graph, idx)).toMatchObject({ state: 'pending', retries: 0, notBefore: 60_100 });
  expect(advance(graph, [{ kind: 'due', idx }], 200).dispatch).toEqual([]);

  const look = advance(graph, [{ kind: 'wake', idx }], 300);
  expect(look).toMatchObject({ dispatch: [idx], events: [] });
  expect(statusAt(graph, idx)).toMatchObject({ state: 'sent', attempt: 2, notBefore: null });
  expect(advance(graph, [deferred(idx, 1)], 310).refused).toMatchObject([{ reason: 'stale-attempt' }]);
  const end = advance(graph, [{ kind: 'succeeded', idx, attempt: 2, result: null }], 320);
  expect(end.outcome).toEqual({ kind: 'succeeded' });
  expect(end.counters.finished).toBe(end.counters.total);
});

test('nobody wakes it: it looks after its time, and says no second time what it waits for', () => {
  const { graph, idx } = begun();
  advance(graph, [deferred(idx, 1, { checkAfterMs: 500 })], 0);
  expect(advance(graph, [{ kind: 'due', idx }], 499).dispatch).toEqual([]);
  expect(advance(graph, [{ kind: 'due', idx }], 500).dispatch).toEqual([idx]);
  expect(advance(graph, [deferred(idx, 2)], 510).events).toEqual([]);
  expect(statusAt(graph, idx).deferral).toMatchObject({ begunAt: 0, since: 0, saidAt: 510 });
  advance(graph, [{ kind: 'due', idx }], 60_510);
  const other = advance(graph, [deferred(idx, 3, { untilExecution: null, message: 'the deletion' })], 60_520);
  expect(other.events.map((e) => e.message)).toEqual(['the deletion']);
  expect(statusAt(graph, idx).deferral).toMatchObject({ begunAt: 0, since: 60_520 });
});

test('one that waits again for what has ended does not spin', () => {
  const { graph, idx } = begun();
  advance(graph, [deferred(idx, 1)], 0);
  expect(advance(graph, [{ kind: 'wake', idx }], 1).dispatch).toEqual([idx]);
  advance(graph, [deferred(idx, 2)], 10);
  const woken = advance(graph, [{ kind: 'wake', idx }], 11);
  expect(woken).toMatchObject({ dispatch: [], timers: [{ idx, at: 510 }] });
  // The timer is set again: each wake drops the earlier timer.
  const once = advance(graph, [{ kind: 'wake', idx }], 12);
  expect(once).toMatchObject({ changes: [], timers: [{ idx, at: 510 }] });
  expect(advance(graph, [{ kind: 'due', idx }], 510).dispatch).toEqual([idx]);
});

test('a graph rebuilt from its rows waits on; what does not wait is not woken', () => {
  const { spec, graph, idx } = begun();
  expect(advance(graph, [{ kind: 'wake', idx }], 1).changes).toEqual([]);
  expect(advance(graph, [{ kind: 'wake', idx: 999 }], 1).changes).toEqual([]);
  advance(graph, [deferred(idx, 1)], 2);
  const again = graphFromRows(spec, structuredClone(graph.nodes.map(rowOf)), graph.flags);
  expect([again.waiting, again.active]).toEqual([graph.waiting, graph.active]);
  expect(advance(again, [{ kind: 'wake', idx }], 3).dispatch).toEqual([idx]);
});

test('a cancel ends it while it waits: nothing runs; a late word that it waits is kept for the resume', () => {
  const { spec, graph, idx } = begun();
  advance(graph, [deferred(idx, 1)], 0);
  expect(advance(graph, [{ kind: 'cancel', mode: 'cancel' }], 1)).toMatchObject({
    outcome: { kind: 'cancelled' },
    dispatch: [],
  });
  expect(advance(graph, [{ kind: 'wake', idx }], 2).dispatch).toEqual([]);

  const late = begun();
  advance(late.graph, [{ kind: 'started', idx, attempt: 1 }], 1);
  advance(late.graph, [{ kind: 'cancel', mode: 'cancel' }], 1);
  const kept = advance(late.graph, [deferred(late.idx, 1)], 2);
  expect(kept.changes).toMatchObject([{ idx: late.idx, state: 'pending', notBefore: null }]);
  expect(kept.timers).toEqual([]);
  for (const stopped of [graph, late.graph]) {
    const resumed = resumeGraph(spec, stopped.nodes.map(rowOf), { force: false, now: 5_000 });
    expect(resumed.decision.dispatch).toEqual([idx]);
    expect(statusAt(resumed.graph, idx)).toMatchObject({ state: 'sent', attempt: 2, deferral: null });
  }
});

test('a resume does not undo what an operation waited for, nor what it failed with after that', () => {
  const waits = { kind: 'deferred', message: 'x', untilExecution: EXECUTION, checkAfterMs: 20 } as const;
  const cancelled = stopAndResume('install', ONE, { run: () => waits, cancelAtMs: 105 })!;
  expect(labels(cancelled.record)).toEqual(['start a']);
  const error = { type: 'NonRecoverableError', message: 'the child failed', recoverable: false };
  const failed = stopAndResume('install', ONE, {
    run: (_payload, nth) => (nth === 1 ? waits : { kind: 'failed', error }),
  })!;
  expect(labels(failed.record)).toEqual(['start a']);
  expect(failed.record.outcome).toBe('succeeded');
});

test('in a subgraph that is failing it waits for nothing: the subgraph ends without it', () => {
  const rels = [{ to: 't', source: ['establish'], target: ['establish'] }];
  const waits = { kind: 'deferred', message: 'x', untilExecution: null, checkAfterMs: 500 } as const;
  const error = { type: 'NonRecoverableError', message: 'no', recoverable: false };
  const record = drive('install', inputOf('install', fixture({ t: {}, s: { rels } }), {}, {}), {
    run: (p) => (p.relationship!.side === 'source' ? { kind: 'failed', error } : waits),
    durationMs: (p) => (p.relationship!.side === 'source' ? 5 : 20),
    isParanoid: true,
  });
  expect(record).toMatchObject({ outcome: 'failed', elapsedMs: 20, calls: { length: 2 } });
});

test('its time limit holds for its looks and the time in between', () => {
  const { graph, idx } = begun(2);
  expect(advance(graph, [deferred(idx, 1)], 1_000).timers).toEqual([{ idx, at: 3_000 }]);
  advance(graph, [{ kind: 'wake', idx }], 2_000);
  advance(graph, [deferred(idx, 2)], 2_500);
  const over = advance(graph, [{ kind: 'due', idx }], 3_000);
  expect(over.dispatch).toEqual([]);
  expect(over.outcome).toMatchObject({
    kind: 'failed',
    error: expect.stringContaining('Process killed due to timeout of 2 seconds'),
  });
});

test('a worker that is lost while it looks is a loss; a look that comes to its end forgives them', () => {
  const { graph, idx } = begun();
  let attempt = 1;
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < MAX_LOSSES; n++, attempt++)
      advance(
        graph,
        [
          { kind: 'started', idx, attempt },
          { kind: 'lost', idx, attempt },
        ],
        attempt,
      );
    expect(statusAt(graph, idx)).toMatchObject({ state: 'sent', losses: MAX_LOSSES });
    advance(graph, [deferred(idx, attempt), { kind: 'due', idx }], attempt);
    expect(statusAt(graph, idx)).toMatchObject({ state: 'pending', losses: 0 });
    advance(graph, [{ kind: 'due', idx }], 60_000 * (round + 2));
    attempt++;
  }
});

test('a run of a workflow with many waits has no retries and no more operations than without', () => {
  const run = (_: unknown, nth: number) =>
    nth < 5
      ? ({ kind: 'deferred', message: 'x', untilExecution: null, checkAfterMs: 500 } as const)
      : ({ kind: 'succeeded', result: 1 } as const);
  const record = drive('install', inputOf('install', fixture(ONE), {}, { taskRetries: 0 }), {
    run,
    isParanoid: true,
    isRepeating: true,
  });
  expect(record.outcome).toBe('succeeded');
  expect(record.calls).toHaveLength(5);
  expect(record.stages[0]!.rows.filter((task) => task.retryOf !== null)).toEqual([]);
});

import type { ExecutionGraph, Task } from '../api/answers';
import { barOf, chosenRows, firstFailure, spanOf, taskRows, ticksOf, tookMs } from './task-rows';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const ms = (second: number) => Date.parse(at(second));
const task = (id: string, more: Partial<Task> = {}): Task => ({
  id,
  name: `[web_1] ${id}`,
  state: 'succeeded',
  type: 'RemoteWorkflowTask',
  dependencies: [],
  node_instance_id: 'web_1',
  operation: `cloudify.interfaces.lifecycle.${id}`,
  ...more,
});
const rowsOf = (...operations: Task[]) =>
  taskRows({
    execution_id: 'e',
    status: 'started',
    version: 1,
    is_planned: false,
    is_whole: true,
    error: null,
    stages: [],
    graphs: [{ id: 'g', name: 'install', created_at: null, ended: null, operations }],
  } satisfies ExecutionGraph);

test('a row says what its task does, and to what', () => {
  const [create, link, local] = rowsOf(
    task('create', { started_at: at(1), ended_at: at(3), attempt: 2 }),
    task('establish', {
      node_instance_id: 'b',
      operation: 'x.establish',
      source_id: 'a',
      target_id: 'b',
    }),
    task('NOP', { type: 'NOPLocalWorkflowTask', name: 'NOP', node_instance_id: null, operation: null }),
  );
  expect(create).toMatchObject({
    name: 'create',
    about: 'web_1',
    stage: 'install',
    startMs: ms(1),
    endMs: ms(3),
    attempt: 2,
  });
  expect(link).toMatchObject({ name: 'establish', about: 'a → b', isOperation: true, startMs: null });
  expect(local).toMatchObject({ name: 'NOP', about: null, isOperation: false });
});

test('a task that waits for its retry is no plain pending one', () =>
  expect(rowsOf(task('a', { state: 'pending', next_retry_at: at(9) }))[0]).toMatchObject({
    state: 'rescheduled',
    nextRetryMs: ms(9),
  }));

test('rows are chosen and sorted', () => {
  const rows = rowsOf(
    task('short', { started_at: at(5), ended_at: at(6) }),
    task('long', { started_at: at(2), ended_at: at(9) }),
    task('failed', { state: 'failed', started_at: at(3), ended_at: at(4) }),
    task('local', { type: 'NOPLocalWorkflowTask' }),
  );
  const names = (more: object) =>
    chosenRows(rows, { isOperationsOnly: true, isFailedOnly: false, sort: 'graph', ...more }, ms(10)).map(
      ({ name }) => name,
    );
  expect(names({})).toEqual(['short', 'long', 'failed']);
  expect(names({ isOperationsOnly: false }).length).toBe(4);
  expect(names({ isFailedOnly: true })).toEqual(['failed']);
  expect(names({ sort: 'start' })).toEqual(['long', 'failed', 'short']);
  expect(names({ sort: 'longest' })).toEqual(['long', 'short', 'failed']);
});

test('the span runs until now while a task runs, and bars lie within it', () => {
  const rows = rowsOf(
    task('a', { started_at: at(0), ended_at: at(4) }),
    task('b', { state: 'started', started_at: at(4) }),
  );
  const span = spanOf(rows, ms(8))!;
  expect(span).toEqual({ fromMs: ms(0), toMs: ms(8) });
  expect(rows.map((row) => barOf(row, span, ms(8)))).toEqual([
    { left: 0, width: 50 },
    { left: 50, width: 50 },
  ]);
  expect([
    tookMs(rows[1]!, ms(8)),
    barOf({ startMs: null, endMs: null }, span, ms(8)),
    spanOf(rowsOf(task('x')), 0),
  ]).toEqual([4000, null, null]);
});

test('a bar too short to be seen is seen, at the very end as well', () => {
  const span = { fromMs: 0, toMs: 1_000_000 };
  expect(barOf({ startMs: 1_000_000, endMs: 1_000_000 }, span, 0)).toEqual({ left: 99.6, width: 0.4 });
});

test.each([
  [60_000, 7, 10_000],
  [3_600_000, 8, 600_000],
  [900, 5, 200],
])('marks of %d ms, at most %d: every %d ms', (whole, most, step) => {
  const ticks = ticksOf({ fromMs: 0, toMs: whole }, most);
  expect(ticks[1]).toBe(step);
  expect(ticks.length).toBeLessThanOrEqual(most + 1);
  expect(ticks.at(-1)!).toBeLessThanOrEqual(whole);
});

test('the first failure is the cause: an operation before steps of the engine, the earlier before the later', () => {
  const rows = rowsOf(
    task('graph', { type: 'SubgraphTask', state: 'failed', ended_at: at(1) }),
    task('later', { state: 'failed', ended_at: at(5) }),
    task('sooner', {
      state: 'failed',
      ended_at: at(3),
      error: { type: 'X', message: 'no space', recoverable: false },
    }),
  );
  expect(firstFailure(rows)).toMatchObject({ name: 'sooner', error: 'no space' });
  expect(firstFailure(rowsOf(task('a')))).toBeNull();
});

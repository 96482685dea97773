import type { TaskSpec } from '@baton/task-graph';
import { type StoredMarks, timesOfMarks } from './task-times';
import { type TaskView, viewOf } from './task-views.sql';

const GRAPH = '019aa5c4-1740-711d-a3c8-ff6b15e91d87';
const at = (second: number) => `2026-11-25T12:00:0${second}.000Z`;
const mark = (
  version: number,
  started: number[],
  succeeded: number[],
  created_at: string | null = at(version),
): StoredMarks => ({
  version,
  marks: { started, succeeded },
  created_at,
});

test('the first mark of a task says when it began, the one of its success when it ended', () => {
  const times = timesOfMarks([
    mark(1, [0], [1]),
    mark(2, [0], []),
    mark(3, [2], [0]),
    mark(4, [], [2], null),
  ]);
  expect(times.get(0)).toEqual({ state: 'succeeded', version: 3, started_at: at(1), ended_at: at(3) });
  // Begun and ended in one step.
  expect(times.get(1)).toEqual({ state: 'succeeded', version: 1, started_at: at(1), ended_at: at(1) });
  // The previous release writes no time.
  expect(times.get(2)).toEqual({ state: 'succeeded', version: 4, started_at: at(3), ended_at: null });
  expect(times.has(3)).toBe(false);
});

test('a subgraph that is marked again with each operation inside it has not changed', () => {
  expect(timesOfMarks([mark(1, [0], []), mark(2, [0], [])]).get(0)!.version).toBe(1);
});

test('changed since a version: what a mark or a row behind it says; a row keeps the time of its mark', () => {
  const specs = [0, 1, 2, 3].map((idx) => ({ idx, name: `task ${idx}` }) as TaskSpec);
  const row = { id: 'row', idx: 2, state: 'failed', started_at: at(4), hasChanged: true } as TaskView;
  const retry = { id: 'retry', idx: 4, state: 'pending', started_at: null, hasChanged: false } as TaskView;
  const marks = timesOfMarks([mark(1, [0, 2], []), mark(3, [1], [])]);
  const head = { id: GRAPH, created_at: at(0) };
  const view = viewOf(head, { specs, marks, rows: [row, retry], since: 2 });
  const all = Array.from({ length: view.length }, (_, idx) => idx);
  expect(all.map((idx) => [view.glance(idx).state, view.glance(idx).hasChanged])).toEqual([
    ['started', false],
    ['started', true],
    ['failed', true],
    ['pending', false],
    ['pending', false],
  ]);
  expect(view.task(1)).toMatchObject({
    idx: 1,
    state: 'started',
    started_at: at(3),
    spec: { name: 'task 1' },
  });
  expect(view.task(2)).toMatchObject({ id: 'row', started_at: at(1) });
  expect([view.idOf(3), view.idOf(4), view.idOf(5)]).toEqual([view.task(3).id, 'retry', null]);
  const whole = viewOf(head, { specs, marks, rows: [], since: null });
  expect(all.slice(0, 4).every((idx) => whole.glance(idx).hasChanged)).toBe(true);
});

import type { TaskSpec } from '@baton/task-graph';
import type { StoredTask } from '../../store/rows';
import { packTasks, taskIdOf, tasksOfGraph } from './task-document';

const GRAPH = '019aa5c4-1740-711d-a3c8-ff6b15e91d87';
const task = (idx: number) => ({ idx, name: `task ${idx}`, kind: 'nop' }) as unknown as TaskSpec;
const headOf = async (tasks: readonly TaskSpec[]) => ({
  id: GRAPH,
  execution_id: GRAPH,
  created_at: '2026-11-21T00:00:00.000Z',
  tasks: Buffer.from(await packTasks(tasks), 'base64'),
});

test('tasks of the document are as their last mark says, or their row', async () => {
  const head = await headOf([0, 1, 2, 3].map(task));
  const row = { id: 'row', idx: 3, state: 'failed' } as StoredTask;
  const retry = { id: 'retry', idx: 4, state: 'pending' } as StoredTask;
  const tasks = tasksOfGraph(
    head,
    [
      { started: [1, 3], succeeded: [] },
      { started: [2], succeeded: [1] },
    ],
    [row, retry],
  );
  expect(tasks.map(({ state }) => state)).toEqual(['pending', 'succeeded', 'started', 'failed', 'pending']);
  expect(tasks[1]).toMatchObject({
    id: taskIdOf(GRAPH, 1),
    graph_id: GRAPH,
    attempt: 0,
    spec: { name: 'task 1' },
  });
  expect(tasks[1]!.spec).not.toHaveProperty('idx');
  expect(tasks.slice(3)).toEqual([row, retry]);
});

test('ids of tasks are their own and in the order of their numbers', () => {
  const ids = [0, 1, 15, 16, 70_000].map((idx) => taskIdOf(GRAPH, idx));
  expect(ids).toEqual([...new Set(ids)].sort());
  for (const id of ids) expect(id).toMatch(/^019aa5c4-1740-711d-a3c8-ff6b[0-9a-f]{8}$/);
});

test.each([0, 1, 256, 257, 30_000])('a document of %d tasks is read as it was written', async (count) => {
  const written = Array.from({ length: count }, (_, idx) => task(idx));
  const read = tasksOfGraph(await headOf(written), [], []);
  expect(read.map(({ idx, spec }) => ({ idx, ...spec }))).toEqual(written);
});

import { addChange, type Change, createFolder, type Pending } from './fold-changes';

const change = (id: string, operation: Change['operation'], more: Partial<Change> = {}): Change => ({
  kind: 'executions',
  id,
  operation,
  ...more,
});

test('of one thing the newest facts are kept', () => {
  const pending: Pending = new Map();
  addChange(pending, change('a', 'created', { status: 'pending', workflow_id: 'install' }));
  addChange(pending, change('b', 'changed'));
  addChange(pending, change('a', 'changed', { status: 'started' }));
  expect(
    [...pending.values()].map(({ id, operation, status, workflow_id }) => [
      id,
      operation,
      status,
      workflow_id,
    ]),
  ).toEqual([
    ['b', 'changed', undefined, undefined],
    ['a', 'created', 'started', 'install'],
  ]);
  addChange(pending, change('a', 'deleted'));
  expect([...pending.values()].at(-1)?.operation).toBe('deleted');
});

test('kinds with equal ids are apart', () => {
  const pending: Pending = new Map();
  addChange(pending, change('a', 'changed'));
  addChange(pending, { kind: 'deployments', id: 'a', operation: 'changed' });
  expect(pending.size).toBe(2);
});

function folder() {
  const handed: string[][] = [];
  const sizes: number[] = [];
  const later: (() => void)[] = [];
  const made = createFolder({
    intervalMs: 100,
    hand: (changes) => handed.push(changes.map(({ id }) => id)),
    onSize: (size) => sizes.push(size),
    delay: (_ms, run) => {
      later.push(run);
      return () => undefined;
    },
  });
  return { made, handed, sizes, passTime: () => later.splice(0).forEach((run) => run()) };
}

test('the first change is handed on at once, those within the interval together', () => {
  const { made, handed, passTime } = folder();
  for (const id of ['a', 'b', 'c', 'b']) made.add(change(id, 'changed'));
  expect(handed).toEqual([['a']]);
  passTime();
  expect(handed).toEqual([['a'], ['c', 'b']]);
  passTime();
  passTime();
  expect(handed.length).toBe(2);
});

test('while it is held changes are counted, and come with the release', () => {
  const { made, handed, sizes, passTime } = folder();
  made.hold();
  made.add(change('a', 'changed'));
  made.add(change('b', 'changed'));
  passTime();
  expect([handed, sizes, made.size()]).toEqual([[], [1, 2], 2]);
  made.release();
  expect([handed, sizes.at(-1)]).toEqual([[['a', 'b']], 0]);
});

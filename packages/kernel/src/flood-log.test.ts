import { createFloodLog } from './flood-log';
import { silentLog } from './log';

function world() {
  let nowMs = 0;
  const lines: object[] = [];
  const write = (fields: object, message: string): void => void lines.push({ message, ...fields });
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  const log = createFloodLog({ ...silentLog, warn: write, error: write }, clock as never);
  return { lines, log, pass: (ms: number) => (nowMs += ms) };
}

test('a flood of one kind is one line at once and one a minute that says how many', () => {
  const { lines, log, pass } = world();
  for (let i = 0; i < 1_000; i++) log.warn('no place:bob', { username: 'bob', i }, 'request refused');
  expect(lines).toEqual([{ message: 'request refused', username: 'bob', i: 0 }]);
  pass(60_000);
  log.warn('no place:bob', { username: 'bob', i: 1_000 }, 'request refused');
  expect(lines.slice(1)).toEqual([
    { message: 'request refused', username: 'bob', i: 999, suppressed: 999, withinMs: 60_000 },
    { message: 'request refused', username: 'bob', i: 1_000 },
  ]);
});

test('other kinds are written beside it, and what is left is written at the end', () => {
  const { lines, log } = world();
  log.warn('a', {}, 'refused');
  log.error('b', {}, 'failed');
  log.warn('a', {}, 'refused');
  expect(lines).toEqual([{ message: 'refused' }, { message: 'failed' }]);
  log.flush();
  expect(lines.slice(2)).toEqual([{ message: 'refused', suppressed: 1, withinMs: 60_000 }]);
});

test('a flood of kinds is no flood of lines', () => {
  const { lines, log } = world();
  for (let i = 0; i < 5_000; i++) log.warn(`path ${i}`, { i }, 'refused');
  expect(lines.length).toBeLessThanOrEqual(1_001);
});

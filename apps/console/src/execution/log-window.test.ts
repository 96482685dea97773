import { lineOf, lineTone, NO_LINES, withLines } from './log-window';

const lines = (...ids: number[]) => ids.map((id) => lineOf(String(id), { message: `line ${id}` }));
const idsOf = (window: { lines: { id: string }[] }) => window.lines.map(({ id }) => Number(id));

test('the newest lines stay, and what went is counted', () => {
  let window = withLines(NO_LINES, lines(1, 2, 3), 4);
  window = withLines(window, lines(4, 5, 6), 4);
  expect([idsOf(window), window.dropped]).toEqual([[3, 4, 5, 6], 2]);
});

test('a resumed stream brings nothing twice', () => {
  const window = withLines(NO_LINES, lines(1, 2, 3));
  expect(idsOf(withLines(window, lines(2, 3, 4, 4, 5)))).toEqual([1, 2, 3, 4, 5]);
  expect(withLines(window, lines(1, 3))).toBe(window);
});

test('ids are numbers: 10 comes after 9', () =>
  expect(idsOf(withLines(withLines(NO_LINES, lines(9)), lines(10)))).toEqual([9, 10]));

test('an event becomes a line', () => {
  expect(
    lineOf('7', { reported_timestamp: 't', message: { text: 'm' }, source_id: 's', error_causes: null }),
  ).toEqual({
    id: '7',
    time: 't',
    level: null,
    eventType: null,
    message: 'm',
    instanceId: 's',
    operation: null,
    causes: [],
  });
});

test.each([
  ['error', null, 'bad'],
  ['info', 'task_failed', 'bad'],
  [null, 'task_rescheduled', 'warn'],
  ['warning', null, 'warn'],
  [null, 'workflow_succeeded', 'good'],
  ['debug', null, 'quiet'],
  ['info', null, 'plain'],
])('%s %s is %s', (level, eventType, tone) => expect(lineTone({ level, eventType })).toBe(tone));

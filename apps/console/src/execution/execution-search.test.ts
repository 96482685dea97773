import { firstTab, logQuery, readLogSearch } from './execution-search';

test('an address becomes filters of the manager', () => {
  const search = readLogSearch({
    message: 'x',
    level: 'warning',
    failed: 'true',
    node_instance_id: 'a_1',
    tail: '9',
  });
  expect(logQuery(search)).toEqual({
    message: 'x',
    level: ['warning', 'error', 'critical'],
    event_type: expect.arrayContaining(['task_failed']),
    node_instance_id: 'a_1',
  });
  expect(
    Object.values(logQuery(readLogSearch({ level: 'debug' }))).every((value) => value === undefined),
  ).toBe(true);
});

test.each([
  ['failed', 'why'],
  ['queued', 'why'],
  ['cancelling', 'why'],
  ['started', 'gantt'],
  ['terminated', 'gantt'],
])('of one that is %s the first tab is %s', (status, tab) => expect(firstTab(status)).toBe(tab));

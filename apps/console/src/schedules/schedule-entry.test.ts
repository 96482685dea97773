import {
  apiTime,
  bodyOf,
  entryOf,
  faultsOf,
  instantOf,
  keptFields,
  NEW_TIMING,
  ruleText,
} from './schedule-entry';
import type { ScheduleDetail } from './schedules';

const schedule = (more: Partial<ScheduleDetail>): ScheduleDetail =>
  ({
    rule: { recurrence: null, count: null, weekdays: null },
    since: null,
    until: null,
    slip: 0,
    stop_on_fail: false,
    ...more,
  }) as ScheduleDetail;

const weekly = {
  ...NEW_TIMING,
  every: '2',
  unit: 'weeks' as const,
  weekdays: ['MO'],
  count: '5',
  since: '2030-01-01T10:00',
};

test('what is entered becomes a body, and the schedule becomes the same entry', () => {
  const body = bodyOf(weekly, 'utc');
  expect(body).toEqual({
    since: '2030-01-01 10:00:00',
    recurrence: '2 weeks',
    weekdays: ['MO'],
    count: 5,
    slip: 5,
    stop_on_fail: false,
  });
  const stored = schedule({
    rule: { recurrence: '2 weeks', count: 5, weekdays: ['MO'] },
    since: '2030-01-01T10:00:00.000Z',
    slip: 5,
  });
  expect(entryOf(stored, 'utc')).toEqual(weekly);
});

test('a run at one time counts one', () => {
  const once = { ...weekly, mode: 'once' as const };
  expect(bodyOf(once, 'utc')).toEqual({
    since: '2030-01-01 10:00:00',
    count: 1,
    slip: 5,
    stop_on_fail: false,
  });
  expect(entryOf(schedule({}), 'utc').mode).toBe('once');
});

test('an rrule stands alone', () => {
  const entry = { ...NEW_TIMING, mode: 'rrule' as const, rrule: ' FREQ=DAILY ' };
  expect(bodyOf(entry, 'utc')).toEqual({ rrule: 'FREQ=DAILY', slip: 5, stop_on_fail: false });
  expect(faultsOf(entry, 'utc')).toEqual({});
  expect(entryOf(schedule({ rule: { rrule: 'FREQ=DAILY' } }), 'utc').rrule).toBe('FREQ=DAILY');
});

test.each([
  [{ every: '0' }, ['recurrence']],
  [{ count: 'x' }, ['count']],
  [{ since: '' }, ['since']],
  [{ until: '2029-01-01T10:00' }, ['until']],
  [{ slip: '-1' }, ['slip']],
  [{ mode: 'rrule' as const, rrule: ' ' }, ['rrule']],
  [{}, []],
])('%j is refused at %j', (more, fields) =>
  expect(Object.keys(faultsOf({ ...weekly, ...more }, 'utc'))).toEqual(fields),
);

test('what the API would keep although it was emptied is known', () => {
  const before = { ...weekly, until: '2031-01-01T00:00' };
  expect(keptFields(before, { ...before, until: '', count: '', weekdays: [] })).toEqual([
    'until',
    'count',
    'weekdays',
  ]);
  expect(keptFields(before, { ...before, mode: 'once' })).toEqual(['mode']);
  expect(keptFields(before, { ...before, every: '3' })).toEqual([]);
});

test('local times are told in UTC', () => {
  expect(apiTime('2030-06-01T10:00', 'local')).toBe(
    new Date(2030, 5, 1, 10).toISOString().slice(0, 19).replace('T', ' '),
  );
  expect(apiTime('', 'utc')).toBeNull();
  expect(instantOf('2030-01-01 10:00:00')).toBe('2030-01-01T10:00:00Z');
});

test.each([
  [{ recurrence: null, count: 1, weekdays: null }, 'once'],
  [{ recurrence: '1 day', count: null, weekdays: null }, 'every day'],
  [{ recurrence: '5min', count: null, weekdays: null }, 'every 5 minutes'],
  [
    { recurrence: '1 mo', count: 3, weekdays: ['1MO', 'l-FR'] },
    'every month, on first Mon and last Fri, 3 times',
  ],
  [{ rrule: 'FREQ=DAILY' }, 'FREQ=DAILY'],
])('%j in words', (rule, text) => expect(ruleText(rule)).toBe(text));

import { isAppError, readInstant } from '@baton/kernel';
import { cloudifySchedules } from '../http/cloudify/wire-policy';
import { occurrencesOf } from './occurrences';
import { plainTime } from './present-schedule';
import type { ScheduleRule } from './recurrence';
import { relativeTimeMs } from './relative-time';
import { decideOccurrences } from './schedule';
import { ruleOf, specReading } from './schedule-input';

const NOW = Date.parse('2026-11-20T15:00:00Z');
const every = (recurrence: string | null, more: object = {}): ScheduleRule => ({
  recurrence,
  count: null,
  weekdays: null,
  ...more,
});
const timesOf = (
  rule: ScheduleRule,
  since: string | null = '2050-01-01T00:00:00Z',
  until: string | null = null,
) =>
  occurrencesOf({
    rule,
    sinceMs: since === null ? null : Date.parse(since),
    untilMs: until === null ? null : Date.parse(until),
    baseMs: NOW,
  });
const upcoming = (rule: ScheduleRule, since?: string | null, until?: string | null) =>
  timesOf(rule, since, until).upcoming(NOW, 5).map(plainTime);
const days = (texts: string[]) => texts.map((text) => text.slice(0, 10));
const refusal = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    if (isAppError(error)) return [error.code, error.details.field];
    throw error;
  }
  return 'accepted';
};

describe('times of a rule', () => {
  test.each([
    [
      'plain weeks',
      every('2 weeks', { count: 5 }),
      ['2050-01-01', '2050-01-15', '2050-01-29', '2050-02-12', '2050-02-26'],
    ],
    [
      'weekdays of every second week',
      every('2 w', { count: 5, weekdays: ['MO', 'TU'] }),
      ['2050-01-10', '2050-01-11', '2050-01-24', '2050-01-25', '2050-02-07'],
    ],
    [
      'first Monday and last Tuesday',
      every('1 month', { count: 5, weekdays: ['1MO', 'L-TU'] }),
      ['2050-01-03', '2050-01-25', '2050-02-07', '2050-02-22', '2050-03-07'],
    ],
    ['once', every(null, { count: 1 }), ['2050-01-01']],
    ['a count below 1', every('1d', { count: -1 }), []],
    [
      'a rule with its own start',
      { rrule: 'DTSTART:20500101T000000\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=2' },
      ['2050-01-03', '2050-01-05'],
    ],
  ])('%s', (_name, rule, expected) => {
    expect(days(upcoming(rule as ScheduleRule))).toEqual(expected);
  });

  test('days that a month or year lacks are left out', () => {
    expect(days(upcoming(every('1 month'), '2050-01-31T10:00:00Z'))).toEqual([
      '2050-01-31',
      '2050-03-31',
      '2050-05-31',
      '2050-07-31',
      '2050-08-31',
    ]);
    expect(days(upcoming(every('1 year', { count: 2 }), '2048-02-29T10:00:00Z'))).toEqual([
      '2048-02-29',
      '2052-02-29',
    ]);
  });

  test('a count begins at since, also in the past; until is inclusive', () => {
    expect(upcoming(every('1 hour', { count: 3 }), '2026-11-20T14:00:00Z')).toEqual(['2026-11-20 16:00:00']);
    expect(upcoming(every('1 hour'), '2026-11-20T14:00:00Z', '2026-11-20T17:00:00Z')).toEqual([
      '2026-11-20 16:00:00',
      '2026-11-20 17:00:00',
    ]);
  });

  test('without since the times count from the making of the schedule', () => {
    expect(upcoming(every('2 weeks', { count: 2 }), null)).toEqual(['2026-12-04 15:00:00']);
  });

  test.each(['20500103T000000', '20500103T000000Z', '20500103'])(
    'an rrule ends with UNTIL=%s, in UTC where no zone is named',
    (until) => {
      for (const start of ['', 'DTSTART:20500101T000000\nRRULE:'])
        expect(days(upcoming({ rrule: `${start}FREQ=DAILY;UNTIL=${until}` }))).toEqual([
          '2050-01-01',
          '2050-01-02',
          '2050-01-03',
        ]);
    },
  );

  test('a zone keeps its wall clock over a change of summer time', () => {
    const rule = { rrule: 'DTSTART;TZID=Europe/Berlin:20270327T080000\nRRULE:FREQ=DAILY;COUNT=2' };
    expect(upcoming(rule, null)).toEqual(['2027-03-27 07:00:00', '2027-03-28 06:00:00']);
  });

  test('rules that never match and old rules with small steps end in bounded work', () => {
    expect(timesOf({ rrule: 'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30' }).next(NOW)).toBeNull();
    const old = timesOf(every('1 second'), '1970-01-01T00:00:00Z');
    expect(old.next(NOW)).toBe(NOW + 1000);
    expect(timesOf(every('5 minutes', { weekdays: ['MO'] }), '2000-01-01T00:00:00Z').next(NOW)).toBe(
      Date.parse('2026-11-23T00:00:00Z'),
    );
  });

  test.each([
    ['recurrence', every('1 fortnight')],
    ['recurrence', every(null)],
    ['weekdays[0]', every('1 day', { weekdays: ['1MO'] })],
    ['weekdays[1]', every('1 day', { weekdays: ['MO', 'rubbish'] })],
    ['count', every('1 month', { count: 1_000_000 })],
    ['rrule', { rrule: 'FREQ=RUBBISH' }],
    ['rrule', { rrule: 'FREQ=DAILY;COUNT=9999999' }],
    ['rrule', { rrule: 'FREQ=DAILY;BYFOO=1' }],
    ['rrule', { rrule: 'BEGIN:VCALENDAR\nRRULE:FREQ=DAILY' }],
    ['rrule', { rrule: `FREQ=DAILY;BYHOUR=${'1,'.repeat(2000)}1` }],
  ])('%s is refused', (field, rule) => {
    expect(refusal(() => timesOf(rule as ScheduleRule))).toEqual(['bad_parameters_error', field]);
  });
});

describe('input', () => {
  test('times are UTC, whole days are their beginning', () => {
    expect(readInstant('since', '2050-01-01 10:00:00')).toBe('2050-01-01T10:00:00.000Z');
    expect(readInstant('since', '2050-01-01T10:00:00+02:00')).toBe('2050-01-01T08:00:00.000Z');
    expect(readInstant('since', '2050-01-01')).toBe('2050-01-01T00:00:00.000Z');
    for (const text of ['rubbish', '+1h', '2050-01-01 00:00', '2050-13-01'])
      expect(refusal(() => readInstant('since', text))).toEqual(['bad_parameters_error', 'since']);
    expect(relativeTimeMs('+1h +30min', NOW)).toBe(NOW + 5_400_000);
    expect(relativeTimeMs('2050-01-01', NOW)).toBeNull();
  });

  test('changes keep what is not given, and rrule stands alone', () => {
    const stored = every('2 weeks', { count: 5 });
    expect(ruleOf({ count: 2 }, specReading, stored)).toEqual({
      recurrence: '2 weeks',
      count: 2,
      weekdays: null,
    });
    expect(ruleOf({ weekdays: ['mo'] }, specReading, stored)).toMatchObject({ count: 5, weekdays: ['MO'] });
    expect(ruleOf({}, specReading, { rrule: 'FREQ=DAILY' })).toEqual({ rrule: 'FREQ=DAILY' });
    const nulls = { recurrence: null, count: null, weekdays: null, rrule: null };
    expect(ruleOf(nulls, specReading, stored)).toEqual(stored);
    expect(ruleOf({ ...nulls, recurrence: '1 day' }, specReading, stored)).toMatchObject({ count: 5 });
    expect(ruleOf({ rrule: 'FREQ=DAILY' }, specReading, stored)).toEqual({ rrule: 'FREQ=DAILY' });
    expect(refusal(() => ruleOf({ rrule: 'FREQ=DAILY', count: 1 }, specReading))).toEqual([
      'bad_parameters_error',
      'count',
    ]);
    expect(ruleOf({ recurrence: '1w', weekdays: 'mo, tu' }, specReading)).toMatchObject({
      weekdays: ['MO', 'TU'],
    });
    expect(refusal(() => ruleOf({ recurrence: '1w', weekdays: 'mo' }, cloudifySchedules))).toEqual([
      'bad_parameters_error',
      'weekdays',
    ]);
    expect(refusal(() => ruleOf({ recurrence: '0 days' }, specReading))).toEqual([
      'bad_parameters_error',
      'recurrence',
    ]);
  });
});

describe('what becomes of occurrences', () => {
  const start = '2026-11-20T14:00:00.000Z';
  const times = timesOf(every('10 minutes'), start);
  const schedule = { next_occurrence: start, slip_minutes: 0, stop_on_fail: false };
  const outcomes = (of: ReturnType<typeof decideOccurrences>) => of.decisions.map((one) => one.outcome);

  test('one that is due is started and the next one is found', () => {
    const decided = decideOccurrences(schedule, times, 'ended', Date.parse(start) + 5_000);
    expect(outcomes(decided)).toEqual(['due']);
    expect(decided.nextMs).toBe(Date.parse(start) + 600_000);
  });

  test('of several that were missed within the slip one is started, the others are recorded', () => {
    const decided = decideOccurrences({ ...schedule, slip_minutes: 30 }, times, 'none', NOW);
    expect(outcomes(decided)).toEqual([
      'skipped',
      'skipped',
      'skipped',
      'due',
      'skipped',
      'skipped',
      'skipped',
    ]);
    expect(decided.nextMs).toBe(NOW + 600_000);
  });

  test('none is started while the run before is in work, nor after a failed one with stop_on_fail', () => {
    const at = Date.parse(start) + 1_000;
    expect(outcomes(decideOccurrences(schedule, times, 'running', at))).toEqual(['skipped']);
    const stopped = decideOccurrences({ ...schedule, stop_on_fail: true }, times, 'failed', at);
    expect([outcomes(stopped), stopped.isStopped]).toEqual([['skipped'], true]);
    expect(outcomes(decideOccurrences(schedule, times, 'failed', at))).toEqual(['due']);
  });

  test('a clock that was put back decides nothing', () => {
    expect(decideOccurrences(schedule, times, 'none', Date.parse(start) - 3_600_000).decisions).toEqual([]);
  });
});

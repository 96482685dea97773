/** Times of a schedule: in the form, in the format of the API, and as text. */
import type { Zone } from '../text/format';
import { t } from '../text/text';
import type { ScheduleChange, ScheduleDetail, ScheduleRule } from './schedules';

export const UNITS = ['minutes', 'hours', 'days', 'weeks', 'months', 'years'] as const;
export const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;
type Unit = (typeof UNITS)[number];

export interface TimingEntry {
  mode: 'every' | 'once' | 'rrule';
  every: string;
  unit: Unit;
  weekdays: string[];
  count: string;
  /** `YYYY-MM-DDTHH:MM` in the selected time zone. */
  since: string;
  until: string;
  rrule: string;
  /** Minutes. */
  slip: string;
  stopOnFail: boolean;
}

export const NEW_TIMING: TimingEntry = {
  mode: 'every',
  every: '1',
  unit: 'days',
  weekdays: [],
  count: '',
  since: '',
  until: '',
  rrule: '',
  slip: '5',
  stopOnFail: false,
};

/** Returns the form entry of an existing schedule. */
export function entryOf(schedule: ScheduleDetail, zone: Zone): TimingEntry {
  const { rule, since, until, slip, stop_on_fail } = schedule;
  const common: TimingEntry = {
    ...NEW_TIMING,
    since: entryTime(since, zone),
    until: entryTime(until, zone),
    slip: String(slip),
    stopOnFail: stop_on_fail,
  };
  if ('rrule' in rule) return { ...common, mode: 'rrule', rrule: rule.rrule };
  if (rule.recurrence === null) return { ...common, mode: 'once' };
  const read = readRecurrence(rule.recurrence);
  return {
    ...common,
    every: read.every,
    unit: read.unit,
    weekdays: rule.weekdays ?? [],
    count: rule.count === null ? '' : String(rule.count),
  };
}

const SHORT_UNITS: Readonly<Record<string, Unit>> = {
  min: 'minutes',
  h: 'hours',
  d: 'days',
  w: 'weeks',
  mo: 'months',
  y: 'years',
};

function readRecurrence(text: string): { every: string; unit: Unit } {
  const [, every = '1', word = 'day'] = /^(\d+)\s*([a-z]+?)s?$/i.exec(text.trim()) ?? [];
  const unit = UNITS.find((one) => one === `${word}s`) ?? SHORT_UNITS[word] ?? 'days';
  return { every, unit };
}

/** Returns the errors, by the name of the field in the request body. */
export function faultsOf(entry: TimingEntry, zone: Zone): Record<string, string> {
  const faults: Record<string, string> = {};
  const { mode, every, count, since, until, rrule, slip } = entry;
  if (mode === 'every' && !isWhole(every, 1)) faults.recurrence = t.schedules.faults.every;
  if (mode === 'every' && count !== '' && !isWhole(count, 1)) faults.count = t.schedules.faults.every;
  if (mode === 'rrule' && rrule.trim() === '') faults.rrule = t.schedules.faults.rrule;
  if (mode !== 'rrule' && since === '') faults.since = t.schedules.faults.since;
  if (since && until && (apiTime(until, zone) ?? '') <= (apiTime(since, zone) ?? ''))
    faults.until = t.schedules.faults.until;
  if (!isWhole(slip, 0)) faults.slip = t.schedules.faults.slip;
  return faults;
}

const isWhole = (text: string, least: number): boolean => /^\d{1,7}$/.test(text) && Number(text) >= least;

/** Returns the entry in the format of the API, without empty fields. */
export function bodyOf(entry: TimingEntry, zone: Zone): ScheduleChange {
  const { mode, every, unit, weekdays, count } = entry;
  const since = apiTime(entry.since, zone);
  const until = apiTime(entry.until, zone);
  return {
    ...(since !== null && { since }),
    ...(until !== null && { until }),
    ...(mode === 'rrule' && { rrule: entry.rrule.trim() }),
    ...(mode === 'once' && { count: 1 }),
    ...(mode === 'every' && {
      recurrence: `${every} ${unit}`,
      ...(count !== '' && { count: Number(count) }),
      ...(weekdays.length > 0 && { weekdays }),
    }),
    slip: Number(entry.slip),
    stop_on_fail: entry.stopOnFail,
  };
}

/** Returns the fields that a change cannot remove: the API keeps the old value of an absent field. */
export function keptFields(before: TimingEntry, after: TimingEntry): string[] {
  const isKept = (name: 'until' | 'count' | 'since') => before[name] !== '' && after[name] === '';
  const isSameRule = before.mode === 'every' && after.mode === 'every';
  return [
    ...(isKept('until') ? ['until'] : []),
    ...(isSameRule && isKept('count') ? ['count'] : []),
    ...(isSameRule && before.weekdays.length > 0 && after.weekdays.length === 0 ? ['weekdays'] : []),
    // A repeating rule cannot become a single occurrence.
    ...(before.mode === 'every' && after.mode === 'once' ? ['mode'] : []),
  ];
}

/** Returns `YYYY-MM-DD HH:MM:SS` in UTC; null when the text is empty or not a time. */
export function apiTime(text: string, zone: Zone): string | null {
  const ms = Date.parse(zone === 'utc' ? `${text}Z` : text);
  return text === '' || Number.isNaN(ms) ? null : new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

function entryTime(iso: string | null, zone: Zone): string {
  if (iso === null) return '';
  const at = new Date(iso);
  if (zone === 'utc') return at.toISOString().slice(0, 16);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Converts a time of `all_next_occurrences` into an ISO instant. */
export const instantOf = (plain: string): string => `${plain.replace(' ', 'T')}Z`;

/** `every 2 weeks, on MO and FR, 5 times`. */
export function ruleText(rule: ScheduleRule): string {
  if ('rrule' in rule) return rule.rrule;
  const { recurrence, count, weekdays } = rule;
  if (recurrence === null) return t.schedules.once;
  const { every, unit } = readRecurrence(recurrence);
  return [
    t.schedules.every(Number(every), unit),
    weekdays && weekdays.length > 0 ? t.schedules.on(weekdays.map(weekdayText)) : '',
    count ? t.schedules.times(count) : '',
  ]
    .filter(Boolean)
    .join(', ');
}

const weekdayText = (day: string): string => {
  const [, place = '', name = day] = /^(l-|-1|[1-4])?([a-z]{2})$/i.exec(day) ?? [];
  const text = t.schedules.weekdays[name.toUpperCase()] ?? name;
  return place === '' ? text : `${t.schedules.places[place.toLowerCase()] ?? place} ${text}`;
};

import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { childOf, type Entry, entriesOf, itemsOf, setOwn, textOf, toJson } from '../yaml/node';
import type { ElementContext } from './element-context';
import { isRelativeTime, isTimeDelta, isTimeZone, toUtc } from './schedule-time';

export interface ScheduleClock {
  /** Day of times without a date. */
  nowMs: number;
  /** Time zone of times without `timezone`. */
  timezone: string;
}

const WEEKDAYS = ['su', 'mo', 'tu', 'we', 'th', 'fr', 'sa'];

/** Parses `deployment_settings` (reference 2.13). */
export function parseDeploymentSettings(context: ElementContext, clock: ScheduleClock): JsonObject {
  const node = context.root.get('deployment_settings');
  if (node?.kind !== 'map') return {};
  const schedules: JsonObject = {};
  for (const entry of entriesOf(node.get('default_schedules')))
    setOwn(schedules, entry.name, parseSchedule(context, clock, entry) as Json);
  const result: JsonObject = { default_schedules: schedules };
  for (const { name, value } of node.entries)
    if (name !== 'default_schedules') setOwn(result, name, toJson(value));
  return result;
}

function parseSchedule(context: ElementContext, clock: ScheduleClock, { name, value }: Entry): JsonObject {
  const path = `deployment_settings.default_schedules.${name}`;
  const bad = (key: string, expected: string): void => {
    context.diagnostics.report('bad_schedule_time', `"${key}" of the schedule "${name}" is not valid`, {
      at: childOf(value, key),
      path: `${path}.${key}`,
      expected,
    });
  };
  const schedule: JsonObject = {};
  for (const entry of entriesOf(value))
    if (entry.name !== 'timezone') setOwn(schedule, entry.name, toJson(entry.value));
  const zone = textOf(childOf(value, 'timezone')) ?? clock.timezone;
  const isZone = isTimeZone(zone);
  if (!isZone) bad('timezone', 'a time zone such as Europe/Berlin');
  for (const key of ['since', 'until']) {
    const text = schedule[key];
    if (typeof text !== 'string' || isRelativeTime(text)) continue;
    const utc = isZone ? toUtc(text, zone, clock.nowMs) : text;
    if (utc === null) bad(key, '+1h, YYYY-MM-DD HH:MM or HH:MM');
    else schedule[key] = utc;
  }
  if (typeof schedule.recurrence === 'string' && !isTimeDelta(schedule.recurrence))
    bad('recurrence', 'a time delta such as 1d');
  checkWeekdays(context, value, name, path);
  checkParameters(context, childOf(value, 'workflow_parameters'), schedule.workflow_parameters, name, path);
  return schedule;
}

function checkWeekdays(context: ElementContext, value: Entry['value'], name: string, path: string): void {
  itemsOf(childOf(value, 'weekdays')).forEach((item, i) => {
    const day = textOf(item);
    if (day === undefined || WEEKDAYS.includes(day.slice(-2).toLowerCase())) return;
    context.diagnostics.report('bad_weekday', `"${day}" of the schedule "${name}" is no weekday`, {
      at: item,
      path: `${path}.weekdays[${i}]`,
      name: day,
      valid: WEEKDAYS,
    });
  });
}

function checkParameters(
  context: ElementContext,
  node: Entry['value'] | undefined,
  parameters: Json | undefined,
  name: string,
  path: string,
): void {
  if (!isJsonObject(parameters)) return;
  const uses =
    Object.hasOwn(parameters, 'get_attribute') ||
    Object.values(parameters).some((v) => isJsonObject(v) && Object.hasOwn(v, 'get_attribute'));
  if (!uses) return;
  context.diagnostics.report(
    'bad_schedule_parameters',
    `the schedule "${name}" uses get_attribute in its parameters`,
    { at: node, path: `${path}.workflow_parameters`, expected: 'values that exist before anything runs' },
  );
}

/** Filters of the list of events, kept in the address. */
import type { ApiQuery } from '../api/pages';
import { LEVELS, type LogSearch, logQuery } from '../execution/execution-search';
import { choicesOf, flagOf, textOf } from '../search-params';

export const EVENT_TYPES = ['platform_event', 'platform_log'] as const;

export interface EventSearch {
  message?: string;
  level?: LogSearch['level'];
  failed?: true;
  type?: (typeof EVENT_TYPES)[number];
  deployment_id?: string;
  execution_id?: string;
  /** `timestamp,<from>,<to>`, the format of the API. */
  _range?: string;
  /** Key of the open event. */
  event?: string;
}

export function readEventSearch(search: Record<string, unknown>): EventSearch {
  return {
    message: textOf(search.message),
    level: choicesOf(textOf(search.level), LEVELS)?.[0],
    failed: flagOf(search.failed),
    type: choicesOf(textOf(search.type), EVENT_TYPES)?.[0],
    deployment_id: textOf(search.deployment_id),
    execution_id: textOf(search.execution_id),
    _range: rangeText(rangeOf(textOf(search._range))),
    event: textOf(search.event),
  };
}

export interface TimeRange {
  from?: string;
  to?: string;
}

/** Parses a range of the address. An invalid range has no ends. */
export function rangeOf(text: string | undefined): TimeRange {
  const [field, from = '', to = ''] = (text ?? '').split(',');
  if (field !== 'timestamp') return {};
  const known = (one: string): string | undefined => (Number.isNaN(Date.parse(one)) ? undefined : one);
  return { from: known(from), to: known(to) };
}

/** Returns undefined for a range without ends: the API requires at least one. */
export const rangeText = ({ from, to }: TimeRange): string | undefined =>
  from === undefined && to === undefined ? undefined : `timestamp,${from ?? ''},${to ?? ''}`;

/** Returns the query parameters of `/events`. */
export function eventQueryOf(search: EventSearch): ApiQuery {
  const { type, deployment_id, execution_id, _range } = search;
  const { message, ...filters } = logQuery(search);
  return { ...filters, message: containing(message), type, deployment_id, execution_id, _range };
}

/** Returns a pattern for texts that contain `part`: the list expects LIKE patterns, the stream plain substrings. */
function containing(part: string | string[] | undefined): string | undefined {
  return typeof part === 'string' ? `%${part.replace(/[\\%_]/g, '\\$&')}%` : undefined;
}

import { type ListPage, type ListQuery, listQuery, type Principal } from '@baton/contracts';
import { badParameter, isUuid, readInstant } from '@baton/kernel';
import {
  type AnyQuery,
  equalsAny,
  type Keyset,
  pageConditions,
  selectListPage,
  selectPage,
  visibilityScope,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type EventCounts,
  nearEvents,
  pageByChunks,
  pageByScan,
  totalByChunks,
  type ValueColumn,
} from './events-by-chunk';
import { pageByGroups } from './events-by-group';
import { pageByTime } from './events-page';
import { placedEvents } from './placed-events';

const plain = (name: string) => sql`v.${sql.id(name)}`;

/** Values of `type` on the wire for events and log lines, and the name of the manager. */
export type EventNames = { event: string; log: string; manager: string };

export function eventColumns(names: EventNames): Record<string, RawBuilder<unknown>> {
  return {
    _storage_id: plain('storage_id'),
    type: sql`case when v.is_log then ${sql.lit(names.log)} else ${sql.lit(names.event)} end`,
    event_type: plain('event_type'),
    error_causes: plain('error_causes'),
    level: plain('level'),
    logger: plain('logger'),
    message: plain('message'),
    blueprint_id: plain('blueprint_id'),
    deployment_id: plain('deployment_id'),
    deployment_display_name: plain('deployment_display_name'),
    execution_id: plain('execution_id'),
    execution_group_id: plain('execution_group_id'),
    workflow_id: plain('workflow_id'),
    node_instance_id: plain('node_instance_id'),
    node_name: plain('node_name'),
    operation: plain('operation'),
    source_id: plain('source_id'),
    target_id: plain('target_id'),
    // Events of a group belong to no execution, and so to no manager.
    manager_name: sql`case when v.execution_id is not null then ${sql.lit(names.manager)} end`,
    agent_name: plain('worker'),
    reported_timestamp: plain('reported_at'),
    timestamp: plain('created_at'),
  };
}

/**
 * Returns an ILIKE condition. For an ASCII pattern it uses the collation "C", at a third of the cost, without the locale's rules
 * for lower case. The lower case of two characters beyond ASCII, the Kelvin sign and the dotted capital I, is within ASCII: texts
 * with them are compared the usual way as well.
 */
function ilike(column: RawBuilder<unknown>, given: string): RawBuilder<SqlBool> {
  // A backslash that escapes nothing (at the end) stands for itself.
  const pattern = given.replace(/(?<!\\)(?:\\\\)*\\$/, '$&\\');
  const usual = sql<SqlBool>`${column} ilike ${pattern}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  if (!/^[\x00-\x7f]*$/.test(pattern)) return usual;
  const plainly = sql<SqlBool>`${column} collate "C" ilike ${pattern}`;
  if (!/[ik]/i.test(pattern)) return plainly;
  return sql<SqlBool>`(${plainly} or (${column} like any(array['%\u212a%', '%\u0130%']) and ${usual}))`;
}

const KIND = /^(platform|cloudify)_(event|log)$/;

/** Filters that are not plain equality (reference/rest-api.md 7.3). */
function eventFilters(
  names: EventNames,
): Record<string, RawBuilder<unknown> | ((values: string[]) => RawBuilder<SqlBool>)> {
  const like = (column: RawBuilder<unknown>) => (values: string[]) =>
    values.length === 0
      ? sql<SqlBool>`${column} is null`
      : sql<SqlBool>`(${sql.join(
          values.map((value) => ilike(column, value)),
          sql` and `,
        )})`;
  return {
    type: (values) => {
      const kinds = values.flatMap((value) => {
        const match = KIND.exec(value);
        if (match) return [match[2] === 'log'];
        // The original returns an empty list.
        if (names.event === 'cloudify_event') return [];
        throw badParameter('type', `type: unknown kind "${value}"`, {
          expected: ['platform_event', 'platform_log'],
        });
      });
      return sql<SqlBool>`v.is_log = any(${kinds}::boolean[])`;
    },
    execution_id: (values) => {
      // The index is on the plain column; a value that is no UUID matches nothing.
      const ids = values.filter(isUuid);
      if (values.length === 0) return sql<SqlBool>`v.execution_id is null`;
      return ids.length === 1
        ? sql<SqlBool>`v.execution_id = ${ids[0]}::uuid`
        : sql<SqlBool>`v.execution_id = any(${ids}::uuid[])`;
    },
    node_id: plain('node_name'),
    operation: like(plain('operation')),
    message: like(plain('message')),
    'message.text': like(plain('message')),
  };
}

/** The filter `_range=timestamp,<from>,<to>`: from inclusive, to exclusive, one side may be empty. */
interface Range {
  column: 'created_at' | 'reported_at';
  from: string | null;
  to: string | null;
}

function rangesOf(ranges: readonly string[]): Range[] {
  return ranges.map((range) => {
    const [field = '', from = '', to = '', ...rest] = range.split(',');
    const column = { timestamp: 'created_at' as const, reported_timestamp: 'reported_at' as const }[
      field.replace(/^@/, '')
    ];
    if (!column || rest.length > 0 || (from === '' && to === '')) {
      throw badParameter('_range', `_range: "${range}" is malformed`, {
        expected: 'timestamp,<ISO 8601 from>,<ISO 8601 to>',
      });
    }
    return {
      column,
      from: from === '' ? null : readInstant('_range', from),
      to: to === '' ? null : readInstant('_range', to),
    };
  });
}

/** @throws AppError bad_parameters_error for a malformed range */
export function rangeConditions(ranges: readonly string[]): RawBuilder<SqlBool>[] {
  return rangesOf(ranges).flatMap(({ column, from, to }) => [
    ...(from === null ? [] : [sql<SqlBool>`${plain(column)} >= ${from}`]),
    ...(to === null ? [] : [sql<SqlBool>`${plain(column)} < ${to}`]),
  ]);
}

/** Returns the condition for the events of the tenant that the caller may see. */
export const eventScope = (principal: Principal): RawBuilder<SqlBool> => visibilityScope(principal, 'v');

/** Returns one page of events and logs of the tenant. */
export async function listEvents(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
  names: EventNames,
): Promise<ListPage<object>> {
  const ranges = rangesOf(list.extra._range ?? []);
  const sort = list.sort.map((key) => ({ ...key, field: key.field.replace(/^@/, '') }));
  const request = {
    db,
    from: sql`events v`,
    columns: eventColumns(names),
    list: { ...list, filters: { ...list.filters }, sort },
    filters: eventFilters(names),
    tieBreak: sql`v.created_at, v.storage_id`,
  };
  const kind = kindCondition(request.list);
  const where = [eventScope(principal), ...rangeConditions(list.extra._range ?? []), ...kind];
  if (list.getAll) return await selectPage({ ...request, where });
  const keyset = eventKeyset(principal, list);
  const placed = placedEvents(list);
  if (placed) {
    const page = { ...request, ...placedOrder(sort), from: placed, where, keyed: BY_KEY };
    return await selectListPage(page, keyset);
  }
  const scope = { events: eventScope(principal), counts: countScope(principal) };
  const chunked = { ...request, where: kind, scope, range: oneRange(ranges) };
  const isInTime = ranges.every(({ column }) => column === 'created_at');
  const filtered = Object.keys(list.filters);
  const counts = isInTime ? countsOf(filtered) : null;
  const [first] = sort;
  if (list.keyset) {
    if (!counts) return await selectListPage({ ...request, where }, keyset);
    const counted = { ...chunked, counts };
    const page = { ...request, where, total: totalByChunks(counted) };
    return await selectListPage(page, { ...keyset, near: (way) => nearEvents(counted, way) });
  }
  if (sort.length !== 1 || !TIMES.includes(first!.field)) {
    const all = isInTime && sort.length === 1 ? countsToSort(first!.field, filtered) : null;
    const page = all && (await pageByGroups({ ...chunked, counts: all }));
    if (page) return page;
    const total = counts ? { total: totalByChunks({ ...chunked, counts }) } : {};
    return await selectPage({ ...request, where, keyed: BY_KEY, ...total });
  }
  // By text and reported_timestamp, reading the chunks of a frequent text takes longer than reading everything once (8.6 s of
  // 5,000,000).
  if (counts && (counts === 'event_counts' || first!.field === 'timestamp'))
    return await pageByChunks({ ...chunked, counts });
  if (!INDEXED.some((field) => list.filters[field])) return await pageByScan({ ...request, where });
  return first!.field === 'timestamp'
    ? await pageByTime({ ...request, where })
    : await selectPage({ ...request, where });
}

/** The order of pages from a cursor on, by an index. Within one execution the numbers have the order of the times. */
function eventKeyset({ tenant }: Principal, { filters }: ListQuery): Keyset {
  const isOfOne = filters.execution_id?.length === 1;
  const time = { column: plain('created_at'), type: 'timestamptz' } as const;
  return {
    sorts: { timestamp: isOfOne ? { column: plain('seq'), type: 'bigint' } : time },
    ties: isOfOne ? {} : { timestamp: time, _storage_id: { column: plain('storage_id'), type: 'bigint' } },
    tiesFollow: true,
    // Whole: kindCondition takes some of the filters out of the list.
    scope: JSON.stringify([tenant, Object.entries(filters).sort()]),
  };
}

/** Rows are sorted without what only those of the page show. */
const BY_KEY = {
  keys: [plain('created_at'), plain('storage_id')],
  fields: sql`events v on v.created_at = page_.key_ and v.storage_id = page_.key2_`,
};

/** Sort fields whose pages are found without sorting all events. */
const TIMES = ['timestamp', 'reported_timestamp'];
/** Filters that leave few events, found by an index. */
const INDEXED = ['execution_id', 'deployment_id'];

/** Filter and sort fields that event_counts has, and those of the other tables of counts. */
const COUNTED_BY = ['type', 'event_type', 'level'];
const TEXTS = ['message', 'message.text', 'operation'];
const NODES = ['node_id', 'node_name'];

/** Returns the counts that have all of these fields; null when none has. */
function countsOf(fields: readonly string[]): EventCounts | null {
  const more = fields.filter((field) => !COUNTED_BY.includes(field));
  if (more.length === 0) return 'event_counts';
  if (more.every((field) => TEXTS.includes(field))) return 'event_messages';
  return more.every((field) => NODES.includes(field)) ? 'event_nodes' : null;
}

/** Sort fields of lists without filters, with the column of their counted values. */
const VALUES: Readonly<Record<string, ValueColumn>> = {
  agent_name: 'worker',
  blueprint_id: 'blueprint_id',
  deployment_display_name: 'deployment_display_name',
  execution_group_id: 'execution_group_id',
  logger: 'logger',
  node_instance_id: 'node_instance_id',
  workflow_id: 'workflow_id',
};

/** Returns the counts that have the values of `field` and the filtered fields. */
function countsToSort(field: string, filtered: readonly string[]): EventCounts | null {
  const column = VALUES[field];
  return column && filtered.length === 0 ? { column } : countsOf([...filtered, field]);
}

/** With the newest first, rows with equal times are in reverse order too. */
const placedOrder = ([first]: ListQuery['sort']) =>
  first?.field === 'timestamp' && first.descending
    ? { tieBreak: sql`v.created_at desc, v.storage_id desc` }
    : {};

const countScope = (principal: Principal): RawBuilder<SqlBool> =>
  visibilityScope(principal, {
    tenant: plain('tenant_name'),
    visibility: plain('visibility'),
    creator: plain('creator'),
  });

/** Returns the intersection of the ranges. */
function oneRange(ranges: readonly Range[]): { from: string; to: string } {
  const froms = ranges.map(({ from }) => from).filter((from) => from !== null);
  const tos = ranges.map(({ to }) => to).filter((to) => to !== null);
  return { from: froms.sort().at(-1) ?? '-infinity', to: tos.sort()[0] ?? 'infinity' };
}

/** `level` selects logs, `event_type` selects events; both together select the union of the two sets. */
function kindCondition(list: ListQuery): RawBuilder<SqlBool>[] {
  const { level, event_type: eventType } = list.filters;
  if (!level || !eventType) return [];
  delete list.filters.level;
  delete list.filters.event_type;
  return [
    sql<SqlBool>`(${equalsAny(plain('level'), level)} or ${equalsAny(plain('event_type'), eventType)})`,
  ];
}

/**
 * Returns the condition of a list's filters on `events v`, for streams. @throws AppError bad_parameters_error for an unknown
 * `type`.
 */
export function filteredEvents(filters: ListQuery['filters'], names: EventNames): RawBuilder<SqlBool> {
  const list = listQuery({ filters: { ...filters } });
  const where = kindCondition(list);
  return pageConditions({ columns: eventColumns(names), filters: eventFilters(names), list, where });
}

/** Reads events and log lines. */
import type { Client, ItemOf } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { eventInstant, eventStorageId } from '../events/event-key';
import { rangeOf, rangeText } from '../events/event-search';
import { cursorListOf, type ListSource, listOf } from './lists';
import type { ApiQuery } from './pages';

const ROW_FIELDS = [
  '_storage_id',
  'timestamp',
  'level',
  'event_type',
  'message',
  'deployment_id',
  'deployment_display_name',
  'execution_id',
  'node_instance_id',
] as const;
const DETAIL_FIELDS = [
  ...ROW_FIELDS,
  'reported_timestamp',
  'error_causes',
  'logger',
  'blueprint_id',
  'workflow_id',
  'node_name',
  'operation',
  'source_id',
  'target_id',
  'manager_name',
  'agent_name',
] as const;

type EventFields = ItemOf<'listEvents'>;
export type EventRow = Required<Pick<EventFields, (typeof ROW_FIELDS)[number]>>;
export type EventDetail = Required<Pick<EventFields, (typeof DETAIL_FIELDS)[number]>>;

/** Pages that are not shown are dropped from the cache soon: people scroll through a million events. */
const FORGET_MS = 30_000;

/** Events up to now. Changes of executions reload them. */
const live = listOf<EventRow>('events', 'listEvents', ROW_FIELDS);
/** Events up to a time: nothing is added to them. */
const past = cursorListOf<EventRow>('past-events', 'listEvents', ROW_FIELDS);

export const liveEvents: ListSource<EventRow> = {
  kind: live.kind,
  page: (...args) => ({ ...live.page(...args), gcTime: FORGET_MS }),
};

/** Events before `until`, an ISO instant; null when the query itself has an end. */
export const eventsBefore = (until: string | null): ListSource<EventRow> => ({
  kind: past.kind,
  page: (client, tenant, query, offset) => ({
    ...past.page(
      client,
      tenant,
      until === null ? query : { ...query, _range: endingAt(query, until) },
      offset,
    ),
    gcTime: FORGET_MS,
  }),
});

const endingAt = ({ _range }: ApiQuery, until: string): string =>
  rangeText({ ...rangeOf(typeof _range === 'string' ? _range : undefined), to: until })!;

/** Maximum of events read for one millisecond. */
const MOST_OF_INSTANT = 1000;

/** One event, found by its time; null when it has been deleted. */
export const eventQuery = (client: Client, tenant: string, key: string) =>
  queryOptions({
    queryKey: ['event', tenant, key],
    queryFn: async ({ signal }): Promise<EventDetail | null> => {
      const { from, to } = eventInstant(key);
      const { items } = await client.call('listEvents', {
        tenant,
        signal,
        query: {
          _range: `timestamp,${from},${to}`,
          _include: DETAIL_FIELDS.join(','),
          _size: MOST_OF_INSTANT,
        },
      });
      const found = items.find(({ _storage_id }) => _storage_id === eventStorageId(key));
      return (found as EventDetail | undefined) ?? null;
    },
  });

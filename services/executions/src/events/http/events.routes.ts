import type { ListQuery } from '@baton/contracts';
import { eventRoutes } from '@baton/contracts/http/events';
import { answer, type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import type { Db } from '@baton/postgres';
import { visibleExecution } from '../../executions/queries/visible-execution';
import type { Ports } from '../../ports';
import type { DB } from '../../store/tables.gen';
import { deleteEvents } from '../commands/delete-events';
import { recordEvents } from '../commands/record-events';
import { streamStart } from '../domain/stream-start';
import { listEvents } from '../queries/list-events';
import { streamEvents } from '../queries/stream-events';
import type { StreamHub } from '../stream-hub';
import type { EventsWire } from './wire-policy';

/** Routes of events and logs (spec v3.1 part 2 "Events", v2.1 "Event"). */
export function eventsRoutes(deps: {
  db: Db<DB>;
  hub: StreamHub;
  wire: EventsWire;
  managerName: string;
  engine: Pick<Ports, 'db' | 'turns' | 'wake'>;
}): BoundRoute[] {
  const { wire } = deps;
  const names = { ...wire.names, manager: deps.managerName };
  return bindRoutes(eventRoutes, {
    async listEvents(call) {
      const isLegacy = call.version === 'v2.1';
      const list = isLegacy ? { ...call.list, include: null } : call.list;
      const page = await listEvents(deps.db.query, call.principal, list, names);
      const items = isLegacy
        ? page.items.map((item) => wire.presentLegacy(item as Record<string, unknown>))
        : page.items;
      return listEnvelope({ ...page, items }, call.list, { hasFiltered: wire.tellsFiltered });
    },
    async createEvents({ principal, body }) {
      const stored = await recordEvents(deps.engine, principal, body);
      return stored === 0 ? answer({ status: 204 }) : null;
    },
    async deleteEvents({ principal, list }) {
      const total = await deleteEvents(deps.db, principal, list);
      const size = list.asked?.size ? { size: list.size } : {};
      const offset = list.asked?.offset ? { offset: list.offset } : {};
      return { items: [total], metadata: { pagination: { total, ...size, ...offset } } };
    },
    async streamEvents(call) {
      const { execution_id: id, from, ...filters } = call.query;
      const start = streamStart(call.headers['last-event-id'], from);
      const { id: executionId } = await visibleExecution(deps.db.query, call.principal, id);
      const request = { executionId, start, filters: filtersOf(filters) };
      return answer({ stream: streamEvents({ ...deps, names }, request, call.signal) });
    },
  });
}

/** Returns the filters of a stream in the form of the filters of a list. */
function filtersOf({ message, ...others }: StreamFilters): ListQuery['filters'] {
  const parts = message?.map((text) => `%${text.replace(/[\\%_]/g, '\\$&')}%`);
  const given = Object.entries({ ...others, message: parts });
  return Object.fromEntries(given.filter((one): one is [string, string[]] => (one[1]?.length ?? 0) > 0));
}

type StreamFilters = Partial<
  Record<'level' | 'event_type' | 'type' | 'node_instance_id' | 'message', string[] | undefined>
>;

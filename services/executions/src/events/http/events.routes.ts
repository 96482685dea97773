import { eventRoutes } from '@baton/contracts/http/events';
import { answer, type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { badParameter } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { visibleExecution } from '../../executions/queries/visible-execution';
import type { Ports } from '../../ports';
import type { DB } from '../../store/tables.gen';
import { deleteEvents } from '../commands/delete-events';
import { recordEvents } from '../commands/record-events';
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
      const execution = await visibleExecution(deps.db.query, call.principal, call.query.execution_id);
      const after = afterSeqOf(call.headers['last-event-id']);
      return answer({ stream: streamEvents({ ...deps, names }, execution.id, after, call.signal) });
    },
  });
}

function afterSeqOf(header: string | string[] | undefined): number {
  if (header === undefined || header === '') return 0;
  const seq = Number(header);
  if (!Number.isSafeInteger(seq) || seq < 0) {
    throw badParameter('Last-Event-ID', `Last-Event-ID: "${String(header)}" is no event id`, {
      expected: 'the id of an event of this stream',
    });
  }
  return seq;
}

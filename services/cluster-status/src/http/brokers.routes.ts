import { hasPermission, type ListQuery } from '@baton/contracts';
import { brokerRoutes } from '@baton/contracts/http/brokers';
import { type BoundRoute, bindRoutes, listEnvelope, pickFields } from '@baton/http';
import type { Secret } from '@baton/kernel';
import { brokerItem, dbNodeItems } from '../domain/servers';

export interface BrokersDeps {
  brokerUrl: Secret;
  databaseUrl: Secret;
}

/**
 * Broker and database (reference/rest-api.md 5.14). The answers come from the configuration of the services. Adding and removing
 * them is a matter of the installation, so the write requests of the original are not offered (405).
 */
export function brokersHttp({ brokerUrl, databaseUrl }: BrokersDeps): BoundRoute[] {
  return bindRoutes(brokerRoutes, {
    listBrokers: (call) => {
      // An operation that an administrator has started needs the addresses, and never the user of the services.
      const isOperation = call.principal.executionId !== '';
      const maySee = !isOperation && hasPermission(call.principal, 'broker_credentials');
      return page([brokerItem(brokerUrl.expose(), maySee)], call.list);
    },
    listDbNodes: (call) => page(dbNodeItems(databaseUrl.expose()), call.list),
  });
}

function page<T extends { name: string }>(all: T[], list: ListQuery) {
  const names = list.filters.name;
  const chosen = all.filter((item) => !names || names.includes(item.name));
  const shown = chosen.slice(list.offset, list.offset + list.size);
  const items = list.include ? shown.map((item) => pickFields(item, list.include!)) : shown;
  return listEnvelope({ items, total: chosen.length }, list);
}

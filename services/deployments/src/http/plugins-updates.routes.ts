import { pluginsUpdatesRoutes } from '@baton/contracts/http/plugins-updates';
import { type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import { notFound } from '@baton/kernel';
import { type InitiatePluginsUpdate, initiatePluginsUpdate } from '../commands/initiate-plugins-update';
import type { ServiceDeps } from '../deps';
import { findPluginsUpdate, listPluginsUpdates } from '../queries/plugins-updates';
import type { WirePolicy } from './wire-policy';

interface Call extends Pick<HttpCall, 'principal' | 'version'> {
  params: Record<string, string>;
  body: InitiatePluginsUpdate & { reevaluate_active_statuses?: boolean };
}

/** Plugins updates (spec v3.1 part 2 "Plugins", reference/rest-api.md 5.18). */
export function pluginsUpdatesHttp(deps: ServiceDeps, wire: WirePolicy): BoundRoute[] {
  const read = async (call: Pick<HttpCall, 'principal' | 'version'>, id: string) => {
    const found = await findPluginsUpdate(deps.db.query, call.principal, id);
    if (!found) throw notFound('PluginsUpdate', id);
    return wire.present(call.version, 'pluginsUpdate', found);
  };
  const initiate = async (call: Call) => {
    const { principal, params, body } = call;
    // States are never stale here: the loop brings every update to its end.
    const { reevaluate_active_statuses: _stale, ...request } = body;
    const id = await initiatePluginsUpdate(deps, principal, params.blueprint_id!, request);
    return read(call, id);
  };
  return bindRoutes(pluginsUpdatesRoutes, {
    listPluginsUpdates: async (call) => {
      const page = await listPluginsUpdates(deps.db.query, call.principal, call.list);
      const items = page.items.map((item) => wire.present(call.version, 'pluginsUpdate', item));
      return listEnvelope({ ...page, items }, call.list);
    },
    getPluginsUpdate: (call) => read(call, call.params.plugins_update_id!),
    initiatePluginsUpdate: (call) => initiate(call as unknown as Call),
    initiatePluginsUpdateByPost: (call) => initiate(call as unknown as Call),
  });
}

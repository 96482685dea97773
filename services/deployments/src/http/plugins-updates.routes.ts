import type { Principal } from '@baton/contracts';
import { pluginsUpdatesRoutes } from '@baton/contracts/http/plugins-updates';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { notFound } from '@baton/kernel';
import { type InitiatePluginsUpdate, initiatePluginsUpdate } from '../commands/initiate-plugins-update';
import type { ServiceDeps } from '../deps';
import { findPluginsUpdate, listPluginsUpdates } from '../queries/plugins-updates';

interface Call {
  principal: Principal;
  params: Record<string, string>;
  body: InitiatePluginsUpdate & { reevaluate_active_statuses?: boolean };
}

/** Plugins updates (spec v3.1 part 2 "Plugins", reference/rest-api.md 5.18). */
export function pluginsUpdatesHttp(deps: ServiceDeps): BoundRoute[] {
  const read = async (principal: Principal, id: string) => {
    const found = await findPluginsUpdate(deps.db.query, principal, id);
    if (!found) throw notFound('PluginsUpdate', id);
    return found;
  };
  const initiate = async ({ principal, params, body }: Call) => {
    // States are never stale here: the loop carries every update to its end.
    const { reevaluate_active_statuses: _stale, ...request } = body;
    const id = await initiatePluginsUpdate(deps, principal, params.blueprint_id!, request);
    return read(principal, id);
  };
  return bindRoutes(pluginsUpdatesRoutes, {
    listPluginsUpdates: async ({ principal, list }) =>
      listEnvelope(await listPluginsUpdates(deps.db.query, principal, list), list),
    getPluginsUpdate: ({ principal, params }) => read(principal, params.plugins_update_id!),
    initiatePluginsUpdate: (call) => initiate(call as unknown as Call),
    initiatePluginsUpdateByPost: (call) => initiate(call as unknown as Call),
  });
}

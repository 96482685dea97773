import { ownUserRoutes } from '@baton/contracts/http/own-user';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import type { Db } from '@baton/postgres';
import { setPreferences } from '../commands/set-preferences';
import { deleteView, putView } from '../commands/views';
import { ownPermissions } from '../queries/own-permissions';
import { getPreferences } from '../queries/preferences';
import { getView, listViews } from '../queries/views';
import type { DB as Tables } from '../store/tables.gen';

export function ownUserHttp(deps: { db: Db<Tables> }): BoundRoute[] {
  return bindRoutes(ownUserRoutes, {
    getOwnPermissions: (call) => ownPermissions(deps, call.principal),
    getPreferences: (call) => getPreferences(deps, call.principal.userId),
    setPreferences: async (call) => {
      await setPreferences(deps, call.principal.userId, call.body);
      return getPreferences(deps, call.principal.userId);
    },
    listViews: async (call) => listEnvelope(await listViews(deps, call.principal, call.list), call.list),
    putView: async (call) => {
      const name = call.params.name!;
      const { screen, query, is_shared: isShared } = call.body;
      await putView(deps, call.principal, { name, screen, query, isShared: isShared ?? false });
      return getView(deps, call.principal, name);
    },
    deleteView: async (call) => {
      await deleteView(deps, call.principal, call.params.name!);
    },
  });
}

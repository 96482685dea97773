import { usesRoutes } from '@baton/contracts/http/uses';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import type { Db } from '@baton/postgres';
import { blueprintUses, pluginUses, secretUses } from '../queries/read-uses';
import type { DB } from '../store/tables.gen';

export function usesHttp({ db }: { db: Db<DB> }): BoundRoute[] {
  return bindRoutes(usesRoutes, {
    listSecretUses: async ({ principal, list, params }) =>
      listEnvelope(await secretUses(db, principal, list, params.secret_key!), list),
    listBlueprintUses: async ({ principal, list, params }) =>
      listEnvelope(await blueprintUses(db, principal, list, params.blueprint_id!), list),
    listPluginUses: async ({ principal, list, params }) =>
      listEnvelope(await pluginUses(db, principal, list, params.plugin_id!), list),
  });
}

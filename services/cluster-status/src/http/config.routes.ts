import { isAdministrator } from '@baton/contracts';
import { configRoutes } from '@baton/contracts/http/config';
import { type BoundRoute, bindRoutes } from '@baton/http';
import type { Db } from '@baton/postgres';
import type { IdentityPort } from '../adapters/identity.client';
import { changeConfig } from '../commands/change-config';
import type { ConfigDefinition } from '../domain/config-items';
import { getConfig, listConfig } from '../queries/config';
import type { DB } from '../store/tables.gen';

export interface ConfigDeps {
  db: Db<DB>;
  identity: IdentityPort;
  definitions: readonly ConfigDefinition[];
}

/** Configuration of the manager (reference/rest-api.md 5.21). */
export function configHttp(deps: ConfigDeps): BoundRoute[] {
  return bindRoutes(configRoutes, {
    async listConfig({ principal, query: { scope } }) {
      const [items, authorization] = await Promise.all([
        listConfig(deps, { isAdministrator: isAdministrator(principal), scope }),
        scope === undefined ? deps.identity.authorization() : undefined,
      ]);
      return { metadata: {}, items, ...(authorization ? { authorization } : {}) };
    },
    getConfig: ({ principal, params }) =>
      getConfig(deps, params.name!, { isAdministrator: isAdministrator(principal) }),
    putConfig: ({ principal, params, body }) =>
      changeConfig(deps, principal, params.name!, { value: body.value, isForced: body.force === true }),
  });
}

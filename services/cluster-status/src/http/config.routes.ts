import { configChanged, hasPermission, isAdministrator } from '@baton/contracts';
import { configRoutes } from '@baton/contracts/http/config';
import { type BoundRoute, bindRoutes } from '@baton/http';
import { type Db, outbox } from '@baton/postgres';
import { type ConfigRow, configRefusal, findConfig, presentConfig } from '../adapters/config-values';
import type { IdentityPort } from '../adapters/identity.client';
import type { ConfigDefinition } from '../domain/config-items';
import { readConfig, upsertConfig } from '../store/config.sql';
import type { DB } from '../store/tables.gen';

export interface ConfigDeps {
  db: Db<DB>;
  identity: IdentityPort;
  definitions: readonly ConfigDefinition[];
}

/** Configuration of the manager (reference/rest-api.md 5.21). */
export function configHttp({ db, identity, definitions }: ConfigDeps): BoundRoute[] {
  const rowOf = (rows: Map<string, ConfigRow>, one: ConfigDefinition) => rows.get(`${one.scope}.${one.name}`);
  const meant = (name: string): ConfigDefinition => {
    const found = findConfig(definitions, name);
    if (!found.ok) throw found.error;
    return found.value;
  };
  return bindRoutes(configRoutes, {
    async listConfig(call) {
      const { scope } = call.query;
      const chosen = definitions.filter((one) => scope === undefined || one.scope === scope);
      const [rows, authorization] = await Promise.all([
        readConfig(db.query),
        scope === undefined ? identity.authorization() : undefined,
      ]);
      const isAdmin = isAdministrator(call.principal);
      const items = chosen.map((one) => presentConfig(one, rowOf(rows, one), isAdmin));
      return { metadata: {}, items, ...(authorization ? { authorization } : {}) };
    },
    async getConfig(call) {
      const one = meant(call.params.name!);
      return presentConfig(one, rowOf(await readConfig(db.query), one), isAdministrator(call.principal));
    },
    async putConfig(call) {
      const one = meant(call.params.name!);
      // A tenant's manager administers the tenant, not the manager as a whole: its secrets stay closed to them.
      const isAdmin = isAdministrator(call.principal) && hasPermission(call.principal, 'all_tenants');
      const { value, force } = call.body;
      const refusal = configRefusal(one, { value, isForced: force === true, isAdministrator: isAdmin });
      if (refusal) throw refusal;
      const { scope, name } = one;
      const row = await db.tx(async (tx) => {
        // Services that miss it read the values every 10 s.
        await outbox.append(tx, configChanged, { tenant: '', key: scope }, { scope });
        return await upsertConfig(tx, { scope, name, value, username: call.principal.username });
      });
      return presentConfig(one, row, isAdmin);
    },
  });
}

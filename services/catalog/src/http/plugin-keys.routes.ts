import { pluginKeyRoutes } from '@baton/contracts/http/plugin-keys';
import { answer, type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import type { Db } from '@baton/postgres';
import { changeKey, forgetKey, requireSignatures, trustKey } from '../commands/change-plugin-keys';
import { getKey, listKeys, readTrust } from '../queries/read-plugin-keys';
import type { DB } from '../store/tables.gen';

export function pluginKeyHttp(deps: { db: Db<DB>; requiresSignatures: boolean }): BoundRoute[] {
  const { db } = deps;
  const shown = ({ principal, params, include }: Pick<HttpCall, 'principal' | 'params' | 'include'>) =>
    getKey(db.query, principal, params.key_name!, include);
  const trust = ({ principal }: Pick<HttpCall, 'principal'>) =>
    readTrust(db.query, principal.tenant, deps.requiresSignatures);
  return bindRoutes(pluginKeyRoutes, {
    listPluginKeys: async ({ principal, list }) =>
      listEnvelope(await listKeys(db.query, principal, list), list),
    getPluginKey: shown,
    putPluginKey: async (call) => {
      await trustKey(deps, call.principal, call.params.key_name!, call.body.public_key);
      return shown(call);
    },
    patchPluginKey: async (call) => {
      await changeKey(deps, call.principal, call.params.key_name!, call.body.state);
      return shown(call);
    },
    deletePluginKey: async ({ principal, params }) => {
      await forgetKey(deps, principal, params.key_name!);
      return answer({ status: 204 });
    },
    getPluginTrust: trust,
    putPluginTrust: async (call) => {
      await requireSignatures(deps, call.principal, call.body.requires_signature);
      return trust(call);
    },
  });
}

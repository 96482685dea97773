import { type FindUser, visibilityOfNew } from '@baton/contracts';
import { blueprintFilterRoutes } from '@baton/contracts/http/blueprint-filters';
import { answer, type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { createFilter, patchFilter, removeFilter } from '../commands/change-filter';
import { searchRules } from '../queries/blueprint-search';
import { type BlueprintReader, listBlueprints } from '../queries/read-blueprints';
import { getFilter, listFilters } from '../queries/read-filters';
import { presentPage } from './blueprints.routes';
import type { WirePolicy } from './wire-policy';

export function blueprintFilterHttp(
  deps: BlueprintReader & { findUser: FindUser },
  wire: WirePolicy,
): BoundRoute[] {
  const { db } = deps;
  return bindRoutes(blueprintFilterRoutes, {
    listBlueprintFilters: async (call) =>
      listEnvelope(await listFilters(db.query, call.principal, call.list), call.list),
    getBlueprintFilter: (call) => getFilter(db.query, call.principal, call.params.filter_id!),
    putBlueprintFilter: async (call) => {
      const id = call.params.filter_id!;
      await createFilter(
        deps,
        call.principal,
        id,
        call.body,
        visibilityOfNew(call.principal, call.body.visibility, undefined),
      );
      return getFilter(db.query, call.principal, id);
    },
    patchBlueprintFilter: async (call) => {
      const id = call.params.filter_id!;
      await patchFilter(db, call.principal, id, call.body);
      return getFilter(db.query, call.principal, id);
    },
    deleteBlueprintFilter: async (call) => {
      await removeFilter(db, call.principal, call.params.filter_id!);
      return answer({ status: 204 });
    },
    searchBlueprints: async (call) => {
      const { rules, tenants } = await searchRules(
        db.query,
        call.principal,
        call.body,
        call.list.extra._filter_id,
        { skipsUnknown: wire.skipsUnknown },
      );
      return presentPage(wire, call, await listBlueprints(deps, call.principal, call.list, rules, tenants));
    },
  });
}

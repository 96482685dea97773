import { triggerRoutes } from '@baton/contracts/http/triggers';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { changedByPeople } from '../../http/for-people';
import { changeTrigger, createTrigger, removeTrigger, rotateTrigger } from '../commands/change-trigger';
import { type FireDeps, fireTrigger } from '../commands/fire-trigger';
import { listTriggers, shownTrigger } from '../queries/triggers';

/** Triggers (docs/webhooks.md). */
export function triggersHttp(deps: FireDeps): BoundRoute[] {
  const { query } = deps.db;
  const routes = bindRoutes(triggerRoutes, {
    listTriggers: async ({ principal, list }) =>
      listEnvelope(await listTriggers(query, principal, list), list),
    getTrigger: ({ principal, params }) => shownTrigger(query, principal, params.trigger_id!),
    createTrigger: async ({ principal, params, body }) => {
      const secret = await createTrigger(deps, principal, params.trigger_id!, body);
      return { ...(await shownTrigger(query, principal, params.trigger_id!)), secret: secret.expose() };
    },
    updateTrigger: async ({ principal, params, body }) => {
      await changeTrigger(deps, principal, params.trigger_id!, body);
      return shownTrigger(query, principal, params.trigger_id!);
    },
    rotateTrigger: async ({ principal, params, body }) => {
      const secret = await rotateTrigger(deps, principal, params.trigger_id!, body ?? { overlap_s: 86_400 });
      return { ...(await shownTrigger(query, principal, params.trigger_id!)), secret: secret.expose() };
    },
    deleteTrigger: ({ principal, params }) => removeTrigger(deps, principal, params.trigger_id!),
    fireTrigger: async ({ params, headers, text }) => ({
      execution_id: await fireTrigger(deps, params.trigger_id!, { headers, body: text }),
    }),
  });
  return changedByPeople(routes);
}

import { evaluateFunctionsRoutes } from '@baton/contracts/http/evaluate-functions';
import { type BoundRoute, bindRoutes } from '@baton/http';
import type { JsonObject } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { behalfOf } from '../queries/evaluate-outputs';
import { evaluatePayload } from '../queries/evaluate-payload';
import { visibleDeployment } from '../queries/visible-deployment';

/** POST /evaluate/functions (reference/rest-api.md 5.22). */
export function evaluateHttp(deps: ServiceDeps): BoundRoute[] {
  return bindRoutes(evaluateFunctionsRoutes, {
    evaluateFunctions: async ({ principal, body }) => {
      const row = await visibleDeployment(deps.db.query, principal, body.deployment_id);
      const payload = await evaluatePayload(
        { db: deps.db.query, secrets: deps.secrets },
        row,
        behalfOf(principal),
        body.payload as JsonObject,
        body.context ?? {},
      );
      return { deployment_id: row.id, payload };
    },
  });
}

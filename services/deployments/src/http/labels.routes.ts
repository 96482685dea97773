import { deploymentLabelsRoutes } from '@baton/contracts/http/deployment-labels';
import { deploymentSummariesRoutes, summaryFields } from '@baton/contracts/http/deployment-summaries';
import { type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import type { ServiceDeps } from '../deps';
import { listLabelKeys, listLabelValues } from '../queries/list-labels';
import { summarize, summarySources } from '../queries/summarize';
import { deploymentSelector } from './deployment-selector';

/** Labels in use (reference/rest-api.md 4.2) and summaries (5.27). */
export function labelsAndSummariesHttp(deps: ServiceDeps): BoundRoute[] {
  const summary =
    (name: keyof typeof summaryFields) =>
    async ({ principal, list, query }: HttpCall) => {
      const kind = { name, fields: summaryFields[name], ...summarySources[name] };
      const { rules } = await deploymentSelector(deps, principal, list);
      return listEnvelope(await summarize(deps.db.query, principal, kind, list, query, rules ?? []), list, {
        hasFiltered: false,
      });
    };
  return [
    ...bindRoutes(deploymentLabelsRoutes, {
      listDeploymentLabelKeys: async ({ principal, list }) => {
        const page = await listLabelKeys(deps.db.query, principal, list);
        return listEnvelope(page, list, { hasFiltered: !page.isReserved });
      },
      listDeploymentLabelValues: async ({ principal, list, params }) =>
        listEnvelope(await listLabelValues(deps.db.query, principal, list, params.key!), list),
    }),
    ...bindRoutes(deploymentSummariesRoutes, {
      summarizeDeployments: summary('deployments'),
      summarizeNodes: summary('nodes'),
      summarizeNodeInstances: summary('node_instances'),
    }),
  ];
}

import { deploymentDriftRoutes } from '@baton/contracts/http/deployment-drift';
import { deploymentImpactRoutes } from '@baton/contracts/http/deployment-impact';
import { deploymentTopologyRoutes } from '@baton/contracts/http/deployment-topology';
import { answer, type BoundRoute, bindRoutes, namesTag } from '@baton/http';
import type { ServiceDeps } from '../deps';
import { deploymentDrift } from '../queries/deployment-drift';
import { deploymentImpact } from '../queries/deployment-impact';
import { deploymentTopology } from '../queries/deployment-topology';

const DRIFT_SIZE = 100;

/** Routes about one deployment for a console: its topology, its drift, and the effects of a delete. */
export function topologyHttp(deps: ServiceDeps): BoundRoute[] {
  return [
    ...bindRoutes(deploymentTopologyRoutes, {
      getDeploymentTopology: async ({ principal, params, headers: { 'if-none-match': known } }) => {
        const found = await deploymentTopology(deps, principal, params.id!, (version) =>
          namesTag(known, `"${version}"`),
        );
        const headers = { etag: `"${found.version}"`, 'cache-control': 'private, no-cache' };
        if (found.body === null) return answer({ status: 304, headers });
        return answer({ headers, body: found.body });
      },
    }),
    ...bindRoutes(deploymentImpactRoutes, {
      getDeploymentImpact: ({ principal, params, query: { force = false, recursive = false } }) =>
        deploymentImpact(deps, principal, params.id!, { force, recursive }),
    }),
    ...bindRoutes(deploymentDriftRoutes, {
      getDeploymentDrift: ({ principal, params, query: { _size: size = DRIFT_SIZE, _offset: offset = 0 } }) =>
        deploymentDrift(deps, principal, params.id!, { size, offset }),
    }),
  ];
}

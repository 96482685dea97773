import { deploymentsRpc, isAdministrator, type Principal } from '@baton/contracts';
import { nullIfNotFound } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';

/** Calls of the catalog to the service deployments. */
export interface DeploymentsClient {
  listDeployments(tenant: string, blueprintId: string, limit: number): Promise<string[]>;
  /** @throws AppError not_found_error when the caller sees no such deployment in the tenant of the request */
  requireDeployment(principal: Principal, id: string): Promise<void>;
  seesDeployment(principal: Principal, id: string): Promise<boolean>;
  /** For services that act without a user. @throws AppError not_found_error */
  requireDeploymentOf(tenant: string, id: string): Promise<void>;
}

export function deploymentsClient(rpc: RpcConnector): DeploymentsClient {
  const client = rpc.client(deploymentsRpc.DeploymentsServiceDefinition, 'deployments');
  const find = (principal: Principal, deploymentId: string) => {
    const { tenant, username } = principal;
    return client.findDeployment({
      tenant,
      deploymentId,
      username,
      isAdministrator: isAdministrator(principal),
    });
  };
  return {
    listDeployments: async (tenant, blueprintId, limit) =>
      (await client.listDeploymentsOfBlueprint({ tenant, blueprintId, limit })).deploymentIds,
    requireDeployment: async (principal, id) => void (await find(principal, id)),
    seesDeployment: async (principal, id) => (await nullIfNotFound(find(principal, id))) !== null,
    requireDeploymentOf: async (tenant, deploymentId) => {
      await client.findDeployment({ tenant, deploymentId });
    },
  };
}

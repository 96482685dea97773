import { catalogRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

/** What executions asks of the catalog. */
export interface CatalogPort {
  hasBlueprint(tenant: string, blueprintId: string): Promise<boolean>;
}

export function createCatalogClient(rpc: RpcConnector): CatalogPort {
  const client = rpc.client(catalogRpc.CatalogServiceDefinition, 'catalog');
  return {
    async hasBlueprint(tenant, blueprintId) {
      const answer = await client.getBlueprint({ tenant, blueprintId, isAdministrator: true });
      return answer.id !== '';
    },
  };
}

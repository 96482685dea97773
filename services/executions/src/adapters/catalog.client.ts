import { catalogRpc } from '@baton/contracts';
import { isAppError } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';

/** What executions asks of the catalog. */
export interface CatalogPort {
  hasBlueprint(tenant: string, blueprintId: string): Promise<boolean>;
}

export function createCatalogClient(rpc: RpcConnector): CatalogPort {
  const client = rpc.client(catalogRpc.CatalogServiceDefinition, 'catalog');
  return {
    async hasBlueprint(tenant, blueprintId) {
      return await client.getBlueprint({ tenant, blueprintId, isAdministrator: true }).then(
        () => true,
        (error: unknown) => {
          if (isAppError(error, 'not_found_error')) return false;
          throw error;
        },
      );
    },
  };
}

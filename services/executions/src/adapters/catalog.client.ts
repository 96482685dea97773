import { catalogRpc } from '@baton/contracts';
import { type JsonObject, nullIfNotFound } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';

/** The calls of executions to the catalog. */
export interface CatalogPort {
  hasBlueprint(tenant: string, blueprintId: string): Promise<boolean>;
  /** Returns the upload that clients know as this execution. */
  findUpload(tenant: string, executionId: string): Promise<UnrecordedUpload | null>;
}

export interface UnrecordedUpload {
  executionId: string;
  tenant: string;
  hasEnded: boolean;
  createdBy: string;
  /** ISO time. */
  createdAt: string;
  visibility: string;
  parameters: JsonObject;
}

export function createCatalogClient(rpc: RpcConnector): CatalogPort {
  const client = rpc.client(catalogRpc.CatalogServiceDefinition, 'catalog');
  return {
    async hasBlueprint(tenant, blueprintId) {
      return (
        (await nullIfNotFound(client.getBlueprint({ tenant, blueprintId, isAdministrator: true }))) !== null
      );
    },
    async findUpload(tenant, executionId) {
      const upload = await nullIfNotFound(client.getUpload({ tenant, executionId }));
      if (upload === null) return null;
      const { parametersJson, ...rest } = upload;
      return { ...rest, executionId, tenant, parameters: JSON.parse(parametersJson) as JsonObject };
    },
  };
}

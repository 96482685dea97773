import { catalogRpc } from '@baton/contracts';
import { isJsonObject, type Json } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';

export interface CatalogClient {
  /** sha256 of the blueprint's archive: names its files for ever. */
  digest(tenant: string, blueprintId: string): Promise<string>;
  /** Prefix of namespaced imports -> id of the imported blueprint. */
  namespaces(tenant: string, blueprintId: string): Promise<Record<string, string>>;
  /** @throws AppError not_found_error */
  readFile(tenant: string, blueprintId: string, path: string): AsyncIterable<Uint8Array>;
}

/** A large file on a slow link still has to arrive within this time. */
const FILE_DEADLINE_MS = 300_000;

export function createCatalogClient(rpc: RpcConnector): CatalogClient {
  const client = rpc.client(catalogRpc.CatalogServiceDefinition, 'catalog');
  return {
    digest: async (tenant, blueprintId) => (await client.getBlueprint({ tenant, blueprintId })).digest,
    namespaces: async (tenant, blueprintId) => {
      const { planJson } = await client.getBlueprint({ tenant, blueprintId, withPlan: true });
      const plan = (planJson === '' ? null : JSON.parse(planJson)) as Json;
      const mapping =
        isJsonObject(plan) && isJsonObject(plan.namespaces_mapping) ? plan.namespaces_mapping : {};
      return Object.fromEntries(
        Object.entries(mapping).filter((e): e is [string, string] => typeof e[1] === 'string'),
      );
    },
    readFile: async function* (tenant, blueprintId, path) {
      const chunks = client.readBlueprintFile(
        { tenant, blueprintId, path },
        { deadlineMs: FILE_DEADLINE_MS },
      );
      for await (const chunk of chunks) yield chunk.data;
    },
  };
}

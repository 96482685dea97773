import { importsRpc } from '@baton/contracts';
import type { RpcClient, RpcConnector } from '@baton/rpc';
import { IMPORT_ORDER, type ImportService } from '../domain/owners';

/** Clients of the import part of each service. */
export type ImportParts = Record<ImportService, RpcClient<typeof importsRpc.ImportPartServiceDefinition>>;

export function createImportParts(rpc: RpcConnector): ImportParts {
  const entries = IMPORT_ORDER.map((service) => [
    service,
    rpc.client(importsRpc.ImportPartServiceDefinition, service),
  ]);
  return Object.fromEntries(entries) as ImportParts;
}

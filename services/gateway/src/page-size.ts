/**
 * The page size of lists whose request names none: `default_page_size` of the manager's configuration (reference/rest-api.md 3.2).
 */
import { clusterStatusRpc, type RouteContract } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';
import { z } from 'zod';

const DEADLINE_MS = 1_000;
const scope = z.object({ default_page_size: z.number().int().min(0) });

export interface PageSize {
  /** Returns the query of a request; adds the configured page size when the request names none. */
  complete(contract: RouteContract, query: string): string;
  /** Reads the configuration again; called when it has changed. While cluster-status does not answer, the last value stays. */
  refresh(): Promise<void>;
}

export function createPageSize(rpc: RpcConnector): PageSize {
  const client = rpc.client(clusterStatusRpc.ClusterStatusServiceDefinition, 'cluster-status');
  let size: number | null = null;
  return {
    complete(contract, query) {
      if (size === null || !contract.list || contract.list.defaultSize !== undefined) return query;
      if (/(^|&)_size=/.test(query)) return query;
      return query === '' ? `_size=${size}` : `${query}&_size=${size}`;
    },
    async refresh() {
      const { valuesJson, changed } = await client.getConfig({ scope: 'rest' }, { deadlineMs: DEADLINE_MS });
      const isSet = changed.includes('default_page_size');
      size = isSet ? scope.parse(JSON.parse(valuesJson)).default_page_size : null;
    },
  };
}

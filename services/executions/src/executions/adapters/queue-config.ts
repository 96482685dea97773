import { clusterStatusRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';
import { z } from 'zod';

/** A stopping service waits for the tick under way. */
const DEADLINE_MS = 1_000;
/** As it is shipped (reference/rest-api.md 5.21), until cluster-status has answered. */
const SHIPPED_MAX_CONCURRENT = 20;

const scope = z.object({ max_concurrent_workflows: z.number().min(1) });

export interface QueueConfigSource {
  /** Executions that may be at work at once before others wait in the queue; as last read. */
  maxConcurrent(): number;
  /** Called when the configuration has changed; while cluster-status does not answer the last value stays. */
  refresh(): Promise<void>;
}

/** `max_concurrent_workflows` of scope `rest` of the manager's configuration. */
export function createQueueConfig(rpc: RpcConnector): QueueConfigSource {
  const client = rpc.client(clusterStatusRpc.ClusterStatusServiceDefinition, 'cluster-status');
  let maxConcurrent = SHIPPED_MAX_CONCURRENT;
  return {
    maxConcurrent: () => maxConcurrent,
    async refresh() {
      const { valuesJson } = await client.getConfig({ scope: 'rest' }, { deadlineMs: DEADLINE_MS });
      maxConcurrent = scope.parse(JSON.parse(valuesJson)).max_concurrent_workflows;
    },
  };
}

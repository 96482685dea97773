import { clusterStatusRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';
import { z } from 'zod';

/** Deadline of the call to cluster-status. It is short because a stopping service waits for the tick under way. */
const DEADLINE_MS = 1_000;
/** Default value (reference/rest-api.md 5.21), used until cluster-status has answered. */
const SHIPPED_MAX_CONCURRENT = 20;

const scope = z.object({ max_concurrent_workflows: z.number().min(1) });

export interface QueueConfigSource {
  /** Returns the limit of executions at work at once, as last read; further ones wait in the queue. */
  maxConcurrent(): number;
  /** Reads the value; called when the configuration has changed. While cluster-status does not answer, the last value stays. */
  refresh(): Promise<void>;
}

/** Creates the source of `max_concurrent_workflows`, in scope `rest` of the manager's configuration. */
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

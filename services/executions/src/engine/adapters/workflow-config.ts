import { clusterStatusRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';
import { z } from 'zod';
import type { Ports } from '../../ports';

type Values = Ports['workflowConfig'];

/** Deadline of the call to cluster-status. It is short because a stopping service waits for the tick under way. */
const DEADLINE_MS = 1_000;

/** Scope `workflow` of the manager's configuration (reference/rest-api.md 5.21). */
const scope = z.object({
  task_retries: z.number().int(),
  task_retry_interval: z.number().min(0),
  subgraph_retries: z.number().int(),
});

export interface WorkflowConfigSource {
  /**
   * Returns the values as last read; a value that nobody has set comes from the environment. An execution takes up new values
   * when it is next planned.
   */
  current(): Values;
  /** Reads the values; called when the configuration has changed. While cluster-status does not answer, the last values stay. */
  refresh(): Promise<void>;
}

export function createWorkflowConfig(rpc: RpcConnector, environment: Values): WorkflowConfigSource {
  const client = rpc.client(clusterStatusRpc.ClusterStatusServiceDefinition, 'cluster-status');
  let current = environment;
  return {
    current: () => current,
    async refresh() {
      const { valuesJson, changed } = await client.getConfig(
        { scope: 'workflow' },
        { deadlineMs: DEADLINE_MS },
      );
      const values = scope.parse(JSON.parse(valuesJson));
      const isSet = (name: keyof typeof values): boolean => changed.includes(name);
      current = {
        taskRetries: isSet('task_retries') ? values.task_retries : environment.taskRetries,
        taskRetryIntervalMs: isSet('task_retry_interval')
          ? values.task_retry_interval * 1000
          : environment.taskRetryIntervalMs,
        subgraphRetries: isSet('subgraph_retries') ? values.subgraph_retries : environment.subgraphRetries,
      };
    },
  };
}

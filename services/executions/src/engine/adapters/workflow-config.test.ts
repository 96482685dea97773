import { clusterStatusRpc } from '@baton/contracts';
import { createLocalRpc } from '@baton/rpc';
import { createWorkflowConfig } from './workflow-config';

const environment = { taskRetries: 3, taskRetryIntervalMs: 50, subgraphRetries: 0 };

test('values that were set win over the environment; without an answer the last ones stay', async () => {
  const rpc = createLocalRpc();
  const config = createWorkflowConfig(rpc, environment);
  expect(config.current()).toEqual(environment);
  let valuesJson = JSON.stringify({ task_retries: 60, task_retry_interval: 2.5, subgraph_retries: 0 });
  rpc.serve('cluster-status', clusterStatusRpc.ClusterStatusServiceDefinition, {
    report: async () => ({ maintenance: 'deactivated' }),
    getConfig: async ({ scope }) => ({
      valuesJson: scope === 'workflow' ? valuesJson : '{}',
      changed: ['task_retry_interval'],
    }),
  });
  await config.refresh();
  expect(config.current()).toEqual({ ...environment, taskRetryIntervalMs: 2500 });
  valuesJson = '{"task_retries": "many"}';
  await expect(config.refresh()).rejects.toThrow();
  expect(config.current().taskRetryIntervalMs).toBe(2500);
});

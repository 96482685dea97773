import type { SubgraphPayload } from '@baton/task-graph';
import type { Shown } from '../../../engine/queries/list-operations';
import type { OperationsWire } from '../wire-policy';

type Spec = Parameters<Shown['onFailure']>[0];

/** The wire of the original. */
export const cloudifyOperations: OperationsWire = {
  onFailure: (spec) => (spec.type === 'SubgraphTask' ? lifecycleHandler(spec) : spec.policy.onFailure),
  showsRuns: false,
  isPaged: true,
  showsChanged: false,
  showsDeleted: true,
};

/**
 * Returns the failure handler that the original's lifecycles store with the subgraph of an instance: it runs when the subgraph
 * has failed and is retried.
 */
function lifecycleHandler({ name, payload, subgraph }: Spec) {
  const { nodeInstanceId } = payload as unknown as SubgraphPayload;
  if (nodeInstanceId === null || subgraph !== null || name.startsWith('stub_')) return null;
  return {
    path: 'cloudify.plugins.lifecycle._SubgraphOnFailure',
    instance_id: nodeInstanceId,
    on_retry: name.startsWith('install_') ? 'reinstall' : 'uninstall',
  };
}

import { isoInstant } from '@baton/kernel';
import type * as real from '../../../../services/executions/src/executions/store/left-runs.sql';
import { allSeenBy, statement } from './access';

export const leftRuns: typeof real.leftRuns = async (reader, _tenant, deploymentId, except = null) => {
  await statement(reader);
  return leftOf(reader, deploymentId, except);
};

/** Returns operations that workers still run for ended executions of the deployment. */
export function leftOf(reader: object, deploymentId: string | null, except: string | null): real.LeftRun[] {
  return [...allSeenBy(reader)]
    .filter(({ row }) => row.deployment_id === deploymentId && row.id !== except)
    .filter(({ row }) => row.phase === 'ended' && row.has_left_runs)
    .flatMap(({ row, tasks }) =>
      [...tasks.values()]
        .filter(({ state, worker_id }) => worker_id !== null && (state === 'sent' || state === 'started'))
        .map((task) => ({
          execution_id: row.id,
          workflow_id: row.workflow_id,
          task_id: task.id,
          operation: null,
          node_instance_id: null,
          worker_id: task.worker_id!,
          lease_until: task.leaseUntilMs === null ? null : isoInstant(task.leaseUntilMs),
          is_stopping: task.isKillRequested,
        })),
    );
}

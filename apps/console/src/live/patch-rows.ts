/** Applies changes to rows on the screen. Rows without changes keep their object identity. */
import type { DeploymentRow } from '../api/deployments';
import type { ExecutionRow } from '../api/executions';
import type { Change } from './fold-changes';

type LatestStatus = NonNullable<DeploymentRow['latest_execution_status']>;

const LATEST: Readonly<Record<string, LatestStatus>> = {
  terminated: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Returns the form in which a deployment shows the status of its latest execution. */
const latestStatus = (status: string): LatestStatus => LATEST[status] ?? 'in_progress';

/** Applies changes of executions to the row of a deployment. A new execution becomes its latest one. */
export function patchDeployment(row: DeploymentRow, changes: readonly Change[]): DeploymentRow {
  let patched = row;
  for (const change of changes) {
    const isOfRow = change.kind === 'executions' && change.deployment_id === row.id;
    const isLatest = change.operation === 'created' || change.id === patched.latest_execution;
    if (isOfRow && isLatest && change.status !== undefined && change.operation !== 'deleted')
      patched = withLatest(patched, change, change.status);
  }
  return patched;
}

const withLatest = (row: DeploymentRow, change: Change, status: string): DeploymentRow => ({
  ...row,
  latest_execution: change.id,
  latest_execution_status: latestStatus(status),
  latest_execution_workflow_id: change.workflow_id ?? row.latest_execution_workflow_id,
  latest_execution_total_operations: change.total_operations ?? 0,
  latest_execution_finished_operations: change.finished_operations ?? 0,
});

/** Applies changes to the row of an execution. */
export function patchExecution<Row extends Partial<ExecutionRow>>(row: Row, changes: readonly Change[]): Row {
  const change = changes.findLast(({ kind, id }) => kind === 'executions' && id === row.id);
  if (change?.status === undefined) return row;
  return {
    ...row,
    status: change.status,
    total_operations: change.total_operations ?? row.total_operations,
    finished_operations: change.finished_operations ?? row.finished_operations,
  };
}

/** Patches each row. Returns the same array when no row changed. */
export function patchAll<Row>(rows: Row[], patch: (row: Row) => Row): Row[] {
  const patched = rows.map(patch);
  return patched.some((row, i) => row !== rows[i]) ? patched : rows;
}

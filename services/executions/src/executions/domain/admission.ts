import type { ExecutionRow } from '../../store/rows';
import type { LeftRun } from '../store/left-runs.sql';

/** Facts that decide whether an execution may start now (reference/rest-api.md 6.3). */
export interface AdmissionFacts {
  /** System-wide executions of any tenant that are active or queued. */
  systemWide: readonly string[];
  /** Other executions of the same deployment that were there before and have not ended. */
  ofDeployment: readonly Pick<ExecutionRow, 'id' | 'workflow_id' | 'phase'>[];
  /** Operations of ended executions of the deployment that workers still run. */
  leftRuns: readonly LeftRun[];
  /** Executions at work on any deployment; read only for a system-wide start. */
  atWork: readonly string[];
  /** Whether the executions of the tenant that are at work, or queued before this one, use up its quota. */
  isQuotaReached: boolean;
}

export interface AdmissionRequest {
  isForced: boolean;
  mayQueue: boolean;
  /** Whether it changes the base of all deployments: nothing may run beside it. */
  isSystemWide: boolean;
}

export type Admission =
  | { kind: 'start' }
  | { kind: 'queue' }
  | { kind: 'refuse'; isSystemWide: boolean; blockers: string[]; leftRuns: readonly LeftRun[] };

/**
 * Decides whether an execution is started, queued or refused. A system-wide execution makes all others wait, forced or not, and
 * itself waits for all others. Otherwise a deployment has one running execution, and none starts while a worker still runs
 * operations of an ended one, unless forced. If these operations are being stopped, the execution is queued: that takes seconds,
 * and the caller could decide nothing. When the quota of the tenant is reached, it is queued too, also by force.
 */
export function admit(request: AdmissionRequest, facts: AdmissionFacts): Admission {
  if (facts.systemWide.length > 0) return { kind: 'queue' };
  const blockers = request.isSystemWide
    ? [...facts.atWork]
    : request.isForced
      ? []
      : facts.ofDeployment.map((execution) => execution.id);
  const leftRuns = request.isForced || request.isSystemWide ? [] : facts.leftRuns;
  if (blockers.length + leftRuns.length === 0) return { kind: facts.isQuotaReached ? 'queue' : 'start' };
  const isOverSoon = blockers.length === 0 && leftRuns.every((run) => run.is_stopping);
  if (request.mayQueue || isOverSoon) return { kind: 'queue' };
  return { kind: 'refuse', isSystemWide: request.isSystemWide, blockers, leftRuns };
}

/** Returns a text about a left run for its waiters: the operation, its worker and the end of its lease. */
export function leftRunText(run: LeftRun): string {
  const what =
    run.operation === null ? 'the code of its workflow' : `${run.operation} of ${run.node_instance_id}`;
  const until =
    run.lease_until === null ? '' : `, whose lease runs to ${run.lease_until} unless it is renewed`;
  const how = run.is_stopping ? 'is being stopped' : 'still runs';
  return `${what} of execution ${run.execution_id} (${run.workflow_id}), which has ended, ${how} on worker ${run.worker_id}${until}`;
}

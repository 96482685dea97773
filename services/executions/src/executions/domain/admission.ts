import type { ExecutionRow } from '../../store/rows';
import type { LeftRun } from '../store/left-runs.sql';

/** What decides whether an execution may start now (reference/rest-api.md 6.3). */
export interface AdmissionFacts {
  /** System-wide executions of any tenant that are active or queued. */
  systemWide: readonly string[];
  /** Executions of the same deployment that have not ended and were there before, this one left out. */
  ofDeployment: readonly Pick<ExecutionRow, 'id' | 'workflow_id' | 'phase'>[];
  /** Operations that workers still run of executions of the deployment that have ended. */
  leftRuns: readonly LeftRun[];
  /** Executions at work anywhere; read only for one that is system-wide. */
  atWork: readonly string[];
  /** As many of the tenant are at work as its quota allows. */
  isQuotaReached: boolean;
}

export interface AdmissionRequest {
  isForced: boolean;
  mayQueue: boolean;
  /** It changes what all deployments stand on: nothing may run beside it. */
  isSystemWide: boolean;
}

export type Admission =
  | { kind: 'start' }
  | { kind: 'queue' }
  | { kind: 'refuse'; blockers: string[]; leftRuns: readonly LeftRun[] };

/**
 * Start, queue or refuse. A system-wide execution in work makes everything wait, forced or not, and itself waits for
 * everything; otherwise one running execution a deployment, and none beside what a worker still runs of one that has ended,
 * unless forced. What is being stopped is waited for: that takes seconds, and is nothing that the caller could decide about.
 * So is room in the quota of the tenant, by what is forced too.
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
  return request.mayQueue || isOverSoon ? { kind: 'queue' } : { kind: 'refuse', blockers, leftRuns };
}

/** What still runs, where and until when, for whoever has to wait for it. */
export function leftRunText(run: LeftRun): string {
  const what =
    run.operation === null ? 'the code of its workflow' : `${run.operation} of ${run.node_instance_id}`;
  const until =
    run.lease_until === null ? '' : `, whose lease runs to ${run.lease_until} unless it is renewed`;
  const how = run.is_stopping ? 'is being stopped' : 'still runs';
  return `${what} of execution ${run.execution_id} (${run.workflow_id}), which has ended, ${how} on worker ${run.worker_id}${until}`;
}

import type { ExecutionRow } from '../store/rows';

/** What decides whether an execution may start now (reference/rest-api.md 6.3). */
export interface AdmissionFacts {
  /** System-wide executions of any tenant that are active or queued. */
  systemWide: readonly string[];
  /** Executions of the same deployment that have not ended and were there before, this one left out. */
  ofDeployment: readonly Pick<ExecutionRow, 'id' | 'workflow_id' | 'phase'>[];
  /** Executions at work anywhere; read only for one that is system-wide. */
  atWork: readonly string[];
}

export interface AdmissionRequest {
  isForced: boolean;
  mayQueue: boolean;
  /** It changes what all deployments stand on: nothing may run beside it. */
  isSystemWide: boolean;
}

export type Admission = { kind: 'start' } | { kind: 'queue' } | { kind: 'refuse'; blockers: string[] };

/**
 * Start, queue or refuse. A system-wide execution in work makes everything wait, forced or not, and itself waits for
 * everything; otherwise one running execution a deployment, unless forced.
 */
export function admit(request: AdmissionRequest, facts: AdmissionFacts): Admission {
  if (facts.systemWide.length > 0) return { kind: 'queue' };
  const blockers = request.isSystemWide
    ? [...facts.atWork]
    : request.isForced
      ? []
      : facts.ofDeployment.map((execution) => execution.id);
  if (blockers.length === 0) return { kind: 'start' };
  return request.mayQueue ? { kind: 'queue' } : { kind: 'refuse', blockers };
}

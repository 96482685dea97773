import type { ExecutionRow } from '../store/rows';

/** What decides whether an execution may start now (reference/rest-api.md 6.3). */
export interface AdmissionFacts {
  /** System-wide executions of any tenant that are active or queued. */
  systemWide: readonly string[];
  /** Executions of the same deployment that have not ended and were there before, this one left out. */
  ofDeployment: readonly Pick<ExecutionRow, 'id' | 'workflow_id' | 'phase'>[];
}

export type Admission = { kind: 'start' } | { kind: 'queue' } | { kind: 'refuse'; blockers: string[] };

/**
 * Start, queue or refuse. A system-wide execution in work makes everything wait, forced or not; otherwise one running
 * execution a deployment, unless forced.
 */
export function admit(request: { isForced: boolean; mayQueue: boolean }, facts: AdmissionFacts): Admission {
  if (facts.systemWide.length > 0) return { kind: 'queue' };
  if (request.isForced || facts.ofDeployment.length === 0) return { kind: 'start' };
  if (request.mayQueue) return { kind: 'queue' };
  return { kind: 'refuse', blockers: facts.ofDeployment.map((execution) => execution.id) };
}

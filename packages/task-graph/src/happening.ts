import type { Json } from '@baton/kernel';
import type { TaskError, TaskSpec } from './task';

/**
 * What `advance` is told. `attempt` is the fencing token: a report about another attempt than the current one changes
 * nothing and comes back in `Decision.refused`.
 */
export type Happening =
  /** The graph begins, or goes on after a resume: everything ready is dispatched. */
  | { kind: 'start' }
  /** A stopped graph is taken up again; before everything else that a resume tells. */
  | { kind: 'resumed' }
  | { kind: 'started'; idx: number; attempt: number }
  | { kind: 'succeeded'; idx: number; attempt: number; result: Json }
  | { kind: 'failed'; idx: number; attempt: number; error: TaskError }
  /** The operation asked to be run again (`ctx.operation.retry`). */
  | { kind: 'retry'; idx: number; attempt: number; message: string; retryAfterMs: number | null }
  /**
   * The operation gave back its place and waits: for the end of an execution (`wake`), at the latest for `checkAfterMs`.
   * Neither a failure nor a try.
   */
  | {
      kind: 'deferred';
      idx: number;
      attempt: number;
      message: string;
      untilExecution: string | null;
      checkAfterMs: number;
    }
  /** What a deferred operation waits for has happened; nothing when it does not wait (any more). */
  | { kind: 'wake'; idx: number }
  /** The worker stopped the operation at its time limit. */
  | { kind: 'timed-out'; idx: number; attempt: number }
  /**
   * The lease ran out or the worker gave the run back: it is dispatched again as the next attempt. `isUnwanted`: it was stopped
   * for a cancel that a resume has taken back; whoever resumed wants it to run as if nothing had happened.
   */
  | { kind: 'lost'; idx: number; attempt: number; isUnwanted?: true }
  /** A timer of `Decision.timers` is due; null = the deadline after a failure. */
  | { kind: 'due'; idx: number | null }
  /** `graceUntil`: of a plain cancel, until when (epoch ms) what runs may end by itself; absent: it is not waited for. */
  | { kind: 'cancel'; mode: 'cancel' | 'force-cancel' | 'kill'; graceUntil?: number }
  /** The grace of a plain cancel is over and workers were told to stop what runs; they are waited for until then (epoch ms). */
  | { kind: 'stop'; until: number }
  /** New tasks behind the last one (`idx` dense); they refer to earlier ones and to each other. Workflow code only. */
  | { kind: 'add'; tasks: readonly TaskSpec[] }
  /** What the workflow's code wants done about an ended task that asks it. */
  | ({ kind: 'decide'; idx: number; attempt: number } & CodeDecision)
  /** The workflow's code no longer waits for these: they must not start any more. */
  | { kind: 'drop'; idxs: readonly number[] }
  /** The workflow's code may be run again after the loss of its worker. */
  | { kind: 'declare-resumable' };

export interface CodeDecision {
  decision: 'go-on' | 'retry' | 'fail';
  /** Of a retry; null = as the policy says. */
  retryAfterMs: number | null;
  ignoreTotalRetries: boolean;
}

import type { Json } from '@baton/kernel';
import type { TaskError, TaskSpec } from './task';

/**
 * Events that are passed to `advance`. `attempt` is the fencing token: a report about another attempt than the current
 * one changes nothing and is returned in `Decision.refused`.
 */
export type Happening =
  /** The graph begins, or goes on after a resume: everything ready is dispatched. */
  | { kind: 'start' }
  /** A stopped graph is resumed. Comes before all other happenings of a resume. */
  | { kind: 'resumed' }
  | { kind: 'started'; idx: number; attempt: number }
  | { kind: 'succeeded'; idx: number; attempt: number; result: Json }
  /** `hasNotBegun`: nobody has run it: its agent did not come. */
  | { kind: 'failed'; idx: number; attempt: number; error: TaskError; hasNotBegun?: true }
  /** The operation requested another run (`ctx.operation.retry`). */
  | { kind: 'retry'; idx: number; attempt: number; message: string; retryAfterMs: number | null }
  /**
   * The operation gave its place at the worker back and waits for the end of an execution (`wake`), for `checkAfterMs`
   * at most. Neither a failure nor a retry.
   */
  | {
      kind: 'deferred';
      idx: number;
      attempt: number;
      message: string;
      untilExecution: string | null;
      checkAfterMs: number;
    }
  /** The event that a deferred operation waits for has happened. No effect when the operation does not wait (any more). */
  | { kind: 'wake'; idx: number }
  /** The worker stopped the operation at its time limit. */
  | { kind: 'timed-out'; idx: number; attempt: number }
  /**
   * The lease ran out or the worker gave the run back: it is dispatched again as the next attempt. `isUnwanted`: the
   * run was stopped for a cancel that a resume has taken back; it runs again as if the stop had not happened.
   */
  | { kind: 'lost'; idx: number; attempt: number; isUnwanted?: true }
  /** A timer of `Decision.timers` is due; null = the deadline after a failure. */
  | { kind: 'due'; idx: number | null }
  /** `graceUntil`: for a plain cancel, the time (epoch ms) until which running tasks may end by themselves; absent: no wait. */
  | { kind: 'cancel'; mode: 'cancel' | 'force-cancel' | 'kill'; graceUntil?: number }
  /**
   * The grace of a plain cancel is over, and workers were told to stop their runs; the graph waits for them until then
   * (epoch ms).
   */
  | { kind: 'stop'; until: number }
  /** New tasks after the last one (`idx` dense). They refer to earlier tasks and to each other. Only from workflow code. */
  | { kind: 'add'; tasks: readonly TaskSpec[] }
  /** The decision of the workflow's code about an ended task that asked for one. */
  | ({ kind: 'decide'; idx: number; attempt: number } & CodeDecision)
  /** The workflow's code no longer waits for these tasks: they must not start any more. */
  | { kind: 'drop'; idxs: readonly number[] }
  /** The workflow's code may be run again after the loss of its worker. */
  | { kind: 'declare-resumable' };

export interface CodeDecision {
  decision: 'go-on' | 'retry' | 'fail';
  /** For a retry; null = the interval of the policy. */
  retryAfterMs: number | null;
  ignoreTotalRetries: boolean;
}

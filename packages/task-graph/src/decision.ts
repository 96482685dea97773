import type { Json } from '@baton/kernel';
import type { ErrorCause, SystemPropertyEdit, TaskRow, TaskStatus } from './task';

/** Result of one call of `advance`; the caller writes it in one transaction. */
export interface Decision {
  /** Versions of the graph before and after; only the latest decision can be undone. */
  fromVersion: number;
  version: number;
  /** Tasks whose status changed, each once, with the whole new status. */
  changes: TaskChange[];
  /** New tasks with their status, in order of idx. */
  added: TaskRow[];
  /** Operations to hand to workers now; their rows have the state `sent` and the attempt to run. */
  dispatch: number[];
  /** Times (epoch ms) at which to call `advance` with `due`. A repeated or late call does no harm. */
  timers: { idx: number | null; at: number }[];
  /** In order; one instance may have several entries. */
  instanceStates: { nodeInstanceId: string; state: string }[];
  /** In order. */
  systemProperties: { nodeInstanceId: string; edits: SystemPropertyEdit[] }[];
  /** In order. */
  events: GraphEvent[];
  /** Absolute counts of this graph, without tasks of kind nop. */
  counters: { total: number; finished: number };
  /** State of the graph to store beside its tasks. */
  flags: GraphFlags;
  /** Not null exactly once: when the graph ends. */
  outcome: GraphOutcome | null;
  refused: { idx: number; attempt: number; reason: 'unknown-task' | 'stale-attempt' | 'not-running' }[];
}

export interface TaskChange extends TaskStatus {
  idx: number;
  /** Only where a resume changed them. */
  deps?: number[];
}

export interface GraphFlags {
  started: boolean;
  cancel: 'cancel' | 'force-cancel' | 'kill' | null;
  /** Tasks (innermost) that finally failed, the first failure first. */
  failures: number[];
  /** Epoch ms after which a failed graph no longer waits for other tasks. */
  deadline: number | null;
  ended: 'succeeded' | 'failed' | 'cancelled' | null;
  /** Workflow code only: the code may be run again. */
  resumable?: true;
  /** Of a plain cancel in progress: the time until which running tasks may end, then the time until which workers may stop them. */
  grace?: { until: number; isStopping: boolean };
}

export type GraphOutcome =
  | { kind: 'succeeded' }
  /** `error` is the text of reference workflows.md 3.4. */
  | { kind: 'failed'; error: string; failures: number[] }
  | { kind: 'cancelled' };

export type GraphEventType =
  | 'sending_task'
  | 'task_started'
  | 'task_succeeded'
  | 'task_failed'
  | 'task_rescheduled'
  | 'workflow_node_event'
  | 'workflow_stage'
  /** A log line of level info. */
  | 'log';

export interface GraphEvent {
  type: GraphEventType;
  /** Type that workflow code gave its event (`workflow_stage`); stored in place of `type`. */
  givenType?: string;
  message: string;
  /** The task of the event. */
  idx: number;
  nodeInstanceId: string | null;
  nodeId: string | null;
  /** Full operation name; null unless the task is an operation. */
  operation: string | null;
  sourceId: string | null;
  targetId: string | null;
  errorCauses: ErrorCause[] | null;
  /** Only for task_succeeded. */
  result?: Json;
}

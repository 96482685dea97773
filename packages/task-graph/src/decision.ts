import type { Json } from '@baton/kernel';
import type { ErrorCause, SystemPropertyEdit, TaskRow, TaskStatus } from './task';

/** What one call of `advance` decided: the caller writes it in one transaction. */
export interface Decision {
  /** The graph's version before and after; only the latest decision can be undone. */
  fromVersion: number;
  version: number;
  /** Tasks whose status changed, with the new status in whole, each once. */
  changes: TaskChange[];
  /** New tasks with their status, in order of idx. */
  added: TaskRow[];
  /** Operations to hand to workers now; their row says `sent` and the attempt to run. */
  dispatch: number[];
  /** Call `advance` with `due` at that time (epoch ms). A timer that is due twice or late does no harm. */
  timers: { idx: number | null; at: number }[];
  /** In order; several of one instance may follow each other. */
  instanceStates: { nodeInstanceId: string; state: string }[];
  /** In order. */
  systemProperties: { nodeInstanceId: string; edits: SystemPropertyEdit[] }[];
  /** In order. */
  events: GraphEvent[];
  /** Of this graph, absolute; tasks of kind nop are not counted. */
  counters: { total: number; finished: number };
  /** What must be kept of the graph beside its tasks. */
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
  /** Tasks (innermost) that failed for good, first one first. */
  failures: number[];
  /** Epoch ms after which a failed graph no longer waits for other tasks. */
  deadline: number | null;
  ended: 'succeeded' | 'failed' | 'cancelled' | null;
  /** Workflow code only: it may be run again. */
  resumable?: true;
  /** Of a plain cancel under way: until when what runs may end by itself, then until when its workers may take to stop it. */
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
  /** Type that workflow code gave its event (`workflow_stage`); it is stored in place of `type`. */
  givenType?: string;
  message: string;
  /** The task it is about. */
  idx: number;
  nodeInstanceId: string | null;
  nodeId: string | null;
  /** Full operation name; null unless the task is an operation. */
  operation: string | null;
  sourceId: string | null;
  targetId: string | null;
  errorCauses: ErrorCause[] | null;
  /** Of task_succeeded. */
  result?: Json;
}

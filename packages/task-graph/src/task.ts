import type { Json, JsonObject } from '@baton/kernel';
import type { OperationState } from './machines';
import type { OperationPayload } from './operation';
import type { LifecycleSubject } from './subject';

/**
 * A task graph as plain JSON, so that it can be stored row by row and read by a later release. The `idx` of a task
 * identifies it: its position in the graph's list, dense from 0. Added tasks (retries, re-runs) come at the end.
 */

/** The stored `type` string of the REST operation record (reference workflows.md 2.1). */
export type TaskType =
  | 'RemoteWorkflowTask'
  | 'DryRunLocalWorkflowTask'
  | 'LocalWorkflowTask'
  | 'NOPLocalWorkflowTask'
  | 'SetNodeInstanceStateTask'
  | 'SendNodeEventTask'
  | 'SendWorkflowEventTask'
  | 'SubgraphTask';

export interface SetStatePayload {
  nodeInstanceId: string;
  nodeId: string;
  state: string;
}

export interface NodeEventPayload {
  nodeInstanceId: string;
  nodeId: string;
  event: string;
}

export interface WorkflowEventPayload {
  event: string;
  eventType: string;
}

/** `instanceId` is the node instance of a lifecycle subgraph, else null. */
export interface SubgraphPayload {
  nodeInstanceId: string | null;
  nodeId: string | null;
}

/** Handler of a task's success; null = its dependents go on. */
export type SuccessHandler =
  | { handler: 'ask-code' }
  | { handler: 'repeat-until-truthy' }
  | { handler: 'record-status' }
  | { handler: 'record-drift'; slot: DriftSlot }
  | { handler: 'edit-system-properties'; nodeInstanceId: string; edits: SystemPropertyEdit[] };

/**
 * Handler of a task's failure; null = retry a recoverable failure within the policy, else fail.
 * - `ignore`: no retry; an event is sent, and the dependents go on. `silent` leaves the event out.
 * - `lifecycle-retry`: for a top-level subgraph: runs the instance's lifecycle again (reference workflows.md 2.6).
 * - `ask-code`: the code that submitted the task decides (`decide` of Happening); until then it is `response-sent`.
 * - `record-*`, `edit-system-properties`: when no retry is left, writes system properties; `ends` says whether the task
 *   then fails or is ignored.
 */
export type FailureHandler =
  | { handler: 'ask-code' }
  | { handler: 'ignore'; silent?: boolean }
  | { handler: 'lifecycle-retry'; mode: 'install' | 'uninstall'; subject: LifecycleSubject }
  | { handler: 'record-status'; ends: 'fail' | 'ignore' }
  | { handler: 'record-drift'; slot: DriftSlot; ends: 'fail' | 'ignore' }
  | {
      handler: 'edit-system-properties';
      nodeInstanceId: string;
      edits: SystemPropertyEdit[];
      ends: 'fail' | 'ignore';
    };

/** Destination of a drift check's result: the system properties of `nodeInstanceId`, under `path`. */
export interface DriftSlot {
  nodeInstanceId: string;
  path: string[];
}

/** One change of a node instance's system properties. Changes are applied in order, without a version check. */
export type SystemPropertyEdit =
  | { edit: 'set'; path: string[]; value: Json }
  | { edit: 'copy'; from: string[]; to: string[] }
  | { edit: 'unset'; path: string[] };

export interface TaskPolicy {
  /** Retries after the first run; -1 = unlimited. */
  totalRetries: number;
  retryIntervalMs: number;
  onSuccess: SuccessHandler | null;
  onFailure: FailureHandler | null;
  /** False = only the task event task_failed is sent. */
  sendTaskEvents: boolean;
}

interface TaskCommon {
  idx: number;
  type: TaskType;
  name: string;
  /** Tasks that must have succeeded (or failed ignored) before this one starts. */
  deps: number[];
  /** The subgraph that contains this task: the task starts after the start of the subgraph and ends before its end. */
  subgraph: number | null;
  policy: TaskPolicy;
  /** The task that this one retries; this one took over its dependents. */
  retryOf: number | null;
  /** Name of the task for the code that submitted it; its retries keep the name. */
  key?: string;
}

export type OperationTask = TaskCommon & { kind: 'operation'; payload: OperationPayload };
export type TaskSpec =
  | OperationTask
  | (TaskCommon & { kind: 'set-state'; payload: SetStatePayload })
  | (TaskCommon & { kind: 'node-event'; payload: NodeEventPayload })
  | (TaskCommon & { kind: 'workflow-event'; payload: WorkflowEventPayload })
  /**
   * The workflow's code carries out a local task with `byCode`. Other local tasks do nothing: they succeed, or fail
   * with the text `failure`.
   */
  | (TaskCommon & { kind: 'local' | 'nop'; payload: JsonObject })
  | (TaskCommon & { kind: 'subgraph'; payload: SubgraphPayload });

/** One graph of an execution. `name` is unique within the execution. */
export interface GraphSpec {
  name: string;
  tasks: TaskSpec[];
  /** Milliseconds for which independent tasks may go on after the first failure. */
  waitAfterFailMs: number;
  dryRun: boolean;
}

/** An error of a task. `type` is the exception's class name as users see it. */
export interface TaskError {
  type: string;
  message: string;
  /** Whether the policy may retry it. */
  recoverable: boolean;
  retryAfterMs?: number | null;
  traceback?: string | null;
  causes?: ErrorCause[];
  /** For a failed subgraph: the member that failed first, innermost. */
  origin?: number;
  /** The workflow's code decided that dependents go on despite the failure. */
  ignored?: true;
  /** The task failed only because a subgraph around it failed: its own handler is not asked. */
  abandoned?: true;
}

export interface ErrorCause {
  type: string;
  message: string;
  traceback?: string | null;
}

/** The changing part of a task; a row consists of this part and the spec. */
export interface TaskStatus {
  state: OperationState;
  /** Number of dispatches: the fencing token of a run. 0 = never dispatched. */
  attempt: number;
  /** Number of runs that were lost with their worker. */
  losses: number;
  /** Retries before this one (`current_retries`); a resume resets it to 0. */
  retries: number;
  /** Epoch ms before which the task must not start; null = no bound. */
  notBefore: number | null;
  error: TaskError | null;
  result: Json;
  /** The wait of its operation: the current one, or the one before its current run; null = it never asked to wait. */
  deferral: Deferral | null;
}

/**
 * An operation that waits without a worker for another event. During the wait the task is `pending` with a `notBefore`,
 * like a retry; `wake` makes it run earlier. Times are epoch ms.
 */
export interface Deferral {
  /** Id of the execution whose end the operation waits for; null = it only runs again after a while. */
  untilExecution: string | null;
  /** Text for people: the thing that the operation waits for. */
  message: string;
  /** Begin of the first wait: from here the time limit of the operation counts. */
  begunAt: number;
  /** Begin of the wait for the present thing. */
  since: number;
  /** Time of the latest report that it waits. */
  saidAt: number;
}

export type TaskRow = TaskSpec & TaskStatus;

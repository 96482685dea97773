import type { Json, JsonObject } from '@baton/kernel';
import type { OperationState } from './machines';
import type { OperationPayload } from './operation';
import type { LifecycleSubject } from './subject';

/**
 * A task graph as plain JSON, so that it can be stored row by row and read back by a later release.
 * A task is named by its `idx`: its position in the graph's list, dense from 0. Added tasks (retries, re-runs) come behind.
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

/** `instanceId` is the node instance a lifecycle subgraph is about, else null. */
export interface SubgraphPayload {
  nodeInstanceId: string | null;
  nodeId: string | null;
}

/** What happens to the graph when a task succeeded; null = its dependents go on. */
export type SuccessHandler =
  | { handler: 'ask-code' }
  | { handler: 'repeat-until-truthy' }
  | { handler: 'record-status' }
  | { handler: 'record-drift'; slot: DriftSlot }
  | { handler: 'edit-system-properties'; nodeInstanceId: string; edits: SystemPropertyEdit[] };

/**
 * What happens when a task failed; null = retry a recoverable failure within the policy, else fail.
 * - `ignore`: no retry, an event, and the dependents go on. `silent` leaves the event out.
 * - `lifecycle-retry`: of a top-level subgraph: run the instance's lifecycle again (reference workflows.md 2.6).
 * - `ask-code`: the code that submitted the task decides (`decide` of Happening); until then it is `response-sent`.
 * - `record-*`, `edit-system-properties`: when no retry is left, write system properties, and it `ends` in a failure or is ignored.
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

/** Where a drift check's result goes: the system properties of `nodeInstanceId`, under `path`. */
export interface DriftSlot {
  nodeInstanceId: string;
  path: string[];
}

/** One change of a node instance's system properties; applied in order, without a version check. */
export type SystemPropertyEdit =
  | { edit: 'set'; path: string[]; value: Json }
  | { edit: 'copy'; from: string[]; to: string[] }
  | { edit: 'unset'; path: string[] };

export interface TaskPolicy {
  /** Retries after the first run; -1 = without end. */
  totalRetries: number;
  retryIntervalMs: number;
  onSuccess: SuccessHandler | null;
  onFailure: FailureHandler | null;
  /** False = task events other than task_failed are left out. */
  sendTaskEvents: boolean;
}

interface TaskCommon {
  idx: number;
  type: TaskType;
  name: string;
  /** Tasks that must have succeeded (or failed ignored) before this one starts. */
  deps: number[];
  /** The subgraph this task is a member of: it starts after that has started and ends before it ends. */
  subgraph: number | null;
  policy: TaskPolicy;
  /** The task this one is a retry of; it took over that one's dependents. */
  retryOf: number | null;
  /** How the code that submitted it knows it; its retries keep the name. */
  key?: string;
}

export type OperationTask = TaskCommon & { kind: 'operation'; payload: OperationPayload };
export type TaskSpec =
  | OperationTask
  | (TaskCommon & { kind: 'set-state'; payload: SetStatePayload })
  | (TaskCommon & { kind: 'node-event'; payload: NodeEventPayload })
  | (TaskCommon & { kind: 'workflow-event'; payload: WorkflowEventPayload })
  /**
   * A local task with `byCode` is carried out by the workflow's code, the others by nobody: they only succeed, or fail
   * with the text `failure`.
   */
  | (TaskCommon & { kind: 'local' | 'nop'; payload: JsonObject })
  | (TaskCommon & { kind: 'subgraph'; payload: SubgraphPayload });

/** One graph of an execution. `name` is unique within the execution. */
export interface GraphSpec {
  name: string;
  tasks: TaskSpec[];
  /** Milliseconds that independent tasks may go on after the first failure. */
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
  /** Of a failed subgraph: the member that failed first, innermost. */
  origin?: number;
  /** The workflow's code decided that dependents go on all the same. */
  ignored?: true;
  /** It failed only because a subgraph around it did: its own handler has no say. */
  abandoned?: true;
}

export interface ErrorCause {
  type: string;
  message: string;
  traceback?: string | null;
}

/** The part of a task that changes; one row has this and the spec. */
export interface TaskStatus {
  state: OperationState;
  /** How often it was dispatched: the fencing token of a run. 0 = never. */
  attempt: number;
  /** How many runs were lost with their worker. */
  losses: number;
  /** Retries before this one (`current_retries`); set back to 0 by resume. */
  retries: number;
  /** Epoch ms before which it must not start; null = at once. */
  notBefore: number | null;
  error: TaskError | null;
  result: Json;
  /** What its operation waits for, or waited for before its present run; null = it never asked to wait. */
  deferral: Deferral | null;
}

/**
 * An operation that waits without a worker until something else has happened. While it waits the task is `pending` with a
 * `notBefore`, as a retry is; `wake` lets it look earlier. Times are epoch ms.
 */
export interface Deferral {
  /** Id of the execution whose end it waits for; null = it only looks again after a while. */
  untilExecution: string | null;
  /** For people: what it waits for. */
  message: string;
  /** When it began to wait for anything: from here its time limit counts. */
  begunAt: number;
  /** When it began to wait for this. */
  since: number;
  /** When it last said so. */
  saidAt: number;
}

export type TaskRow = TaskSpec & TaskStatus;

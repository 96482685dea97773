import type { Json, JsonObject } from '@baton/kernel';
import type { OperationLogger } from './context';

/** A node as workflow code sees it: as declared, with functions of its properties unevaluated. */
export interface WorkflowNode {
  readonly id: string;
  readonly type: string;
  readonly type_hierarchy: readonly string[];
  readonly properties: Readonly<JsonObject>;
  readonly operations: Readonly<Record<string, JsonObject>>;
  readonly number_of_instances: number;
}

/** A node instance as it was when it was read. */
export interface WorkflowInstance {
  readonly id: string;
  readonly node_id: string;
  readonly state: string;
  readonly host_id: string | null;
  readonly runtime_properties: Readonly<JsonObject>;
  readonly system_properties: Readonly<JsonObject>;
  readonly relationships: readonly { type: string; target_id: string; target_name: string }[];
  readonly scaling_groups: readonly { id: string; name: string }[];
}

/** What a failed task does to those that wait for it. `retryAfter` in seconds. */
export type FailureDecision =
  | 'fail'
  | 'ignore'
  | 'retry'
  | { decision: 'retry'; retryAfter?: number; ignoreTotalRetries?: boolean };

export interface WorkOptions {
  /**
   * Name of the work, unique in the execution. Code that runs again after a crash finds what it did under the same name;
   * without one the place in the order of calls counts, which must then be the same every time.
   */
  key?: string;
  /** Retries after the first run; -1 = without end. Default: as the operation or the configuration says. */
  totalRetries?: number;
  /** Seconds. */
  retryInterval?: number;
  sendTaskEvents?: boolean;
  /** Asked about each failed run. */
  onFailure?: (error: { type: string; message: string }) => FailureDecision | Promise<FailureDecision>;
}

export interface OperationOptions extends WorkOptions {
  kwargs?: JsonObject;
  /** Whether kwargs may replace inputs that the operation declares. */
  mayOverride?: boolean;
}

/** A task of a graph that is being built. */
export interface WorkflowTask {
  readonly key: string;
}

/** Where tasks are put: a graph, or a subgraph, which starts and ends as one task. */
export interface TaskPlace {
  operation(instanceId: string, operation: string, options?: OperationOptions): WorkflowTask;
  relationshipOperation(
    sourceId: string,
    targetId: string,
    side: 'source' | 'target',
    operation: string,
    options?: OperationOptions,
  ): WorkflowTask;
  setState(instanceId: string, state: string): WorkflowTask;
  nodeEvent(instanceId: string, text: string): WorkflowTask;
  event(text: string): WorkflowTask;
  /** Something that the code does itself when its turn comes; what it answers is stored. */
  step(name: string, run: () => Json | Promise<Json>, options?: WorkOptions): WorkflowTask;
  subgraph(name: string, options?: WorkOptions): WorkflowTask & TaskPlace;
}

export interface WorkflowGraph extends TaskPlace {
  /** `task` starts after `on` has ended well. */
  dependency(task: WorkflowTask, on: WorkflowTask): void;
  /** Each one after the one before; a list runs side by side. */
  sequence(...tasks: (WorkflowTask | WorkflowTask[])[]): void;
  /**
   * Runs what was put in since the last call. After a failure independent tasks go on for `wait_after_fail`.
   * @throws WorkflowFailedError naming what failed, CancelledError.
   */
  execute(): Promise<void>;
}

/** What the code of a workflow may read and do. Work is done by the engine, with its retries, cancel and events. */
export interface WorkflowContext {
  readonly workflowId: string;
  readonly executionId: string;
  readonly tenant: string;
  readonly deployment: { readonly id: string; readonly displayName: string };
  readonly blueprint: { readonly id: string };
  readonly createdBy: string;
  readonly isDryRun: boolean;
  /** True when the code ran before: after a resume, or the loss of its worker. */
  readonly isResumed: boolean;
  readonly logger: OperationLogger;
  /** Aborted when somebody asks for a cancel. The code should end then; work that it waits for throws CancelledError. */
  readonly cancelSignal: AbortSignal;
  /** Aborted when the code is stopped by force: nothing that it does counts any more. */
  readonly signal: AbortSignal;
  /** Nodes and instances as they are now. */
  model(): Promise<{ nodes: WorkflowNode[]; instances: WorkflowInstance[] }>;
  /** Runs one operation and answers its result; null when it is not implemented. @throws WorkflowFailedError */
  executeOperation(instanceId: string, operation: string, options?: OperationOptions): Promise<Json>;
  setState(instanceId: string, state: string): Promise<void>;
  sendNodeEvent(instanceId: string, text: string): Promise<void>;
  sendEvent(text: string): Promise<void>;
  /** Does something once: code that runs again is answered the stored result. */
  step(name: string, run: () => Json | Promise<Json>, options?: WorkOptions): Promise<Json>;
  graph(): WorkflowGraph;
  /** The built-in sequences on some instances; `relatedIds` are those that stay but are connected to them. */
  install(instanceIds: string[], relatedIds?: string[]): Promise<void>;
  uninstall(instanceIds: string[], relatedIds?: string[], isIgnoringFailure?: boolean): Promise<void>;
}

/** Code of a workflow; it is called with the merged parameters. What it throws fails the execution. */
export type WorkflowFunction = (ctx: WorkflowContext, parameters: Readonly<Record<string, Json>>) => unknown;

export interface PluginWorkflow {
  run: WorkflowFunction;
  /**
   * It may be run again from its beginning after a crash or by a resume: it asks for the same work in the same order, and
   * does everything else in steps.
   */
  isResumable?: boolean;
}

/** The cancel that somebody asked for; workflow code throws it, or lets it through, to end as cancelled. */
export class CancelledError extends Error {
  readonly exceptionType = 'ExecutionCancelled';
  constructor(message = 'The execution is being cancelled') {
    super(message);
    this.name = 'CancelledError';
  }
}

/** Work that workflow code waited for has failed for good. */
export class WorkflowFailedError extends Error {
  readonly exceptionType = 'WorkflowFailed';
  constructor(message: string) {
    super(message);
    this.name = 'WorkflowFailedError';
  }
}

import type { Json, JsonObject } from '@baton/kernel';
import type { OperationLogger } from './context';

/** A node for workflow code: as declared, with the functions of its properties unevaluated. */
export interface WorkflowNode {
  readonly id: string;
  readonly type: string;
  readonly type_hierarchy: readonly string[];
  readonly properties: Readonly<JsonObject>;
  readonly operations: Readonly<Record<string, JsonObject>>;
  readonly number_of_instances: number;
}

/** A node instance with its state at the time of the read. */
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

/** The effect of a failed task on the tasks that wait for it. `retryAfter` in seconds. */
export type FailureDecision =
  | 'fail'
  | 'ignore'
  | 'retry'
  | { decision: 'retry'; retryAfter?: number; ignoreTotalRetries?: boolean };

export interface WorkOptions {
  /**
   * Name of the work, unique in the execution. Code that runs again after a crash finds its earlier work by this name.
   * Without a name the position in the order of calls is used; the order must then be the same in every run.
   */
  key?: string;
  /** Retries after the first run; -1 = unlimited. Default: the value of the operation or of the configuration. */
  totalRetries?: number;
  /** Seconds. */
  retryInterval?: number;
  sendTaskEvents?: boolean;
  /** Called for each failed run. */
  onFailure?: (error: { type: string; message: string }) => FailureDecision | Promise<FailureDecision>;
}

export interface OperationOptions extends WorkOptions {
  kwargs?: JsonObject;
  /** Whether `kwargs` may replace inputs that the operation declares. */
  mayOverride?: boolean;
}

/** A task of a graph under construction. */
export interface WorkflowTask {
  readonly key: string;
}

/** Container for tasks: a graph, or a subgraph, which starts and ends as one task. */
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
  /** A step that the workflow code runs itself when its dependencies have ended; the result of `run` is stored. */
  step(name: string, run: () => Json | Promise<Json>, options?: WorkOptions): WorkflowTask;
  subgraph(name: string, options?: WorkOptions): WorkflowTask & TaskPlace;
}

export interface WorkflowGraph extends TaskPlace {
  /** `task` starts after `on` has ended successfully. */
  dependency(task: WorkflowTask, on: WorkflowTask): void;
  /** Each task starts after the previous one; the tasks of a list run in parallel. */
  sequence(...tasks: (WorkflowTask | WorkflowTask[])[]): void;
  /**
   * Runs the tasks that were added since the last call. After a failure independent tasks go on for `wait_after_fail`.
   * @throws WorkflowFailedError that names the failed tasks, CancelledError.
   */
  execute(): Promise<void>;
}

/** The API of workflow code. The engine does the work, with retries, cancel and events. */
export interface WorkflowContext {
  readonly workflowId: string;
  readonly executionId: string;
  readonly tenant: string;
  readonly deployment: { readonly id: string; readonly displayName: string };
  readonly blueprint: { readonly id: string };
  readonly createdBy: string;
  readonly isDryRun: boolean;
  /** True when the code ran before: after a resume, or after the loss of its worker. */
  readonly isResumed: boolean;
  readonly logger: OperationLogger;
  /** Aborted when a cancel is requested. The code should end then; work that it waits for throws CancelledError. */
  readonly cancelSignal: AbortSignal;
  /** Token for calls back to the API; invalid after the end of the execution. */
  readonly executionToken: string;
  /** Aborted when the code is stopped by force: from then on nothing that it does has an effect. */
  readonly signal: AbortSignal;
  /** Reads the current nodes and instances. */
  model(): Promise<{ nodes: WorkflowNode[]; instances: WorkflowInstance[] }>;
  /** Runs one operation and returns its result; null when the operation is not implemented. @throws WorkflowFailedError */
  executeOperation(instanceId: string, operation: string, options?: OperationOptions): Promise<Json>;
  setState(instanceId: string, state: string): Promise<void>;
  sendNodeEvent(instanceId: string, text: string): Promise<void>;
  sendEvent(text: string): Promise<void>;
  /** Runs `run` once. Code that runs again gets the stored result. */
  step(name: string, run: () => Json | Promise<Json>, options?: WorkOptions): Promise<Json>;
  graph(): WorkflowGraph;
  /** The built-in sequences on the given instances. `relatedIds`: instances that stay, and are connected to the given ones. */
  install(instanceIds: string[], relatedIds?: string[]): Promise<void>;
  uninstall(instanceIds: string[], relatedIds?: string[], isIgnoringFailure?: boolean): Promise<void>;
}

/** Code of a workflow, called with the merged parameters. An error that it throws fails the execution. */
export type WorkflowFunction = (ctx: WorkflowContext, parameters: Readonly<Record<string, Json>>) => unknown;

export interface PluginWorkflow {
  run: WorkflowFunction;
  /**
   * Declares that the code may be run again from its beginning, after a crash or by a resume. Such code must request
   * the same work in the same order, and do everything else in steps.
   */
  isResumable?: boolean;
}

/** A plugin brings its own copy of this package: `instanceof` knows errors of each copy by this mark. */
const workflowErrorMark: unique symbol = Symbol.for('baton.workflow-error') as never;

const isMarked = (own: object, base: object, value: unknown, kind: string): boolean =>
  own === base
    ? value instanceof Error && (value as { [workflowErrorMark]?: unknown })[workflowErrorMark] === kind
    : Function.prototype[Symbol.hasInstance].call(own, value);

/** A requested cancel. Workflow code throws this error, or lets it through, to end as cancelled. */
export class CancelledError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isMarked(this, CancelledError, value, 'cancelled');
  }
  readonly [workflowErrorMark] = 'cancelled';
  readonly exceptionType = 'ExecutionCancelled';
  constructor(message = 'The execution is being cancelled') {
    super(message);
    this.name = 'CancelledError';
  }
}

/** Work that the workflow code waited for has finally failed. */
export class WorkflowFailedError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isMarked(this, WorkflowFailedError, value, 'failed');
  }
  readonly [workflowErrorMark] = 'failed';
  readonly exceptionType = 'WorkflowFailed';
  constructor(message: string) {
    super(message);
    this.name = 'WorkflowFailedError';
  }
}

import type { Duplex } from 'node:stream';
import type { Json, JsonObject } from '@baton/kernel';

/** A node for operations: properties with their functions evaluated. Read-only. */
export interface NodeContext {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly typeHierarchy: readonly string[];
  readonly properties: Readonly<JsonObject>;
  readonly numberOfInstances: number;
}

/** A relationship of the instance. The runtime properties of its target are read-only here. */
export interface RelationshipContext {
  readonly type: string;
  readonly typeHierarchy: readonly string[];
  readonly targetInstanceId: string;
  readonly targetNodeId: string;
}

/** Called when another writer stored its change first. Returns the properties to store; throws to give up. */
export type ConflictResolver = (mine: JsonObject, latest: JsonObject) => JsonObject;

export interface InstanceContext {
  readonly id: string;
  readonly nodeId: string;
  readonly index: number;
  readonly state: string;
  /** May be changed freely, also nested values. Changes are stored after the operation, also when it failed. */
  runtimeProperties: JsonObject;
  readonly systemProperties: Readonly<JsonObject>;
  readonly relationships: readonly RelationshipContext[];
  readonly scalingGroups: readonly { id: string; name: string }[];
  /** Address of the host: runtime property `ip` of the host instance, else its node's property `ip`. @throws FatalError */
  hostIp(): Promise<string>;
  /** Stores changed runtime properties now. @throws RetryableError when another writer was first and there is no resolver. */
  update(onConflict?: ConflictResolver): Promise<void>;
  /** Reads the stored runtime properties again. @throws FatalError when there are unsaved changes, unless `force`. */
  refresh(force?: boolean): Promise<void>;
}

/** One side of a relationship operation. */
export interface SideContext {
  readonly node: NodeContext;
  readonly instance: InstanceContext;
}

export interface OperationLogger {
  debug(message: string): void;
  info(message: string): void;
  warning(message: string): void;
  error(message: string): void;
  critical(message: string): void;
}

export type ContextType = 'node-instance' | 'relationship-instance' | 'deployment';

/** Where scripts on another machine find the files that they ask for. */
export interface RemoteFiles {
  /** Writes a file there. `target`: null: a place that this function chooses. Returns its path there. */
  file(content: { path: string } | { text: string }, name: string, target: string | null): Promise<string>;
  /** Writes files by their path inside of a folder. Returns the folder. */
  folder(
    files: readonly { inside: string; read: () => Promise<string> }[],
    target: string | null,
  ): Promise<string>;
}

/** Serves `ctx` to scripts on another machine: they see and decide what a script of the worker could (docs/plugins-fabric.md). */
export interface RemoteCtx {
  /** Path of the address: CTX_SOCKET_URL of the scripts is `http://localhost:<port><path>`. A secret of this run. */
  readonly path: string;
  /** Texts of the programs that scripts call, by name: `ctx` (of bash), `ctx-sh`, `ctx-function`, `ctx.py`, `ctx-client.py`. */
  readonly programs: Readonly<Record<string, string>>;
  /** Answers the calls that come over a connection, for instance a forwarded port. */
  accept(connection: Duplex): void;
  /**
   * Waits for calls in progress, and returns what the script gave to `ctx returns`.
   * @throws FatalError after `ctx abort-operation`, OperationRetry after `ctx retry-operation`
   */
  outcome(): Promise<Json>;
  /** Ends open calls. */
  close(): void;
}

/** The agent of the operation's host, before it is there. */
export interface AgentContext {
  /**
   * Makes the install script of the agent, for the user data of a machine (install_method: init_script). It holds a token that is
   * good for one hour and one use. A second call of the same run gets the same script. `agentConfig`: goes before agent_config of the node.
   * @throws FatalError for a node without an agent, and where no worker of the manager runs the operation
   */
  initScript(agentConfig?: JsonObject): Promise<string>;
  /** Address from which the machine can get that script, within the hour. */
  installScriptDownloadLink(agentConfig?: JsonObject): Promise<string>;
}

/** The API of an operation. The model is read from the manager at the first call that needs it. */
export interface OperationContext {
  readonly type: ContextType;
  readonly tenant: string;
  readonly executionId: string;
  readonly workflowId: string;
  readonly workflowParameters: Readonly<Record<string, unknown>>;
  readonly deployment: { readonly id: string; readonly displayName: string };
  readonly blueprint: { readonly id: string };
  readonly taskId: string;
  readonly taskName: string;
  readonly createdBy: string;
  readonly plugin: {
    readonly name: string;
    readonly packageName: string | null;
    readonly packageVersion: string | null;
    readonly properties: unknown;
  };
  readonly operation: {
    readonly name: string;
    /** Number of tries before this one. */
    readonly retryNumber: number;
    /** -1: no limit. */
    readonly maxRetries: number;
    readonly relationship: 'source' | 'target' | null;
    /** Requests another run after this one has ended; `retryAfter` in seconds. */
    retry(message?: string, retryAfter?: number): void;
  };
  /** True when an earlier attempt was lost together with its worker. */
  readonly isResumed: boolean;
  readonly agent: AgentContext;
  readonly logger: OperationLogger;
  /** Aborted on cancel, time limit and loss of the lease. The operation should stop then; nothing is stored any more. */
  readonly signal: AbortSignal;
  /** Token for calls back to the API; invalid after the end of the execution. */
  readonly executionToken: string;
  /** @throws FatalError in a relationship operation. */
  node(): Promise<NodeContext>;
  /** @throws FatalError in a relationship operation. */
  instance(): Promise<InstanceContext>;
  /** @throws FatalError outside a relationship operation. */
  source(): Promise<SideContext>;
  /** @throws FatalError outside a relationship operation. */
  target(): Promise<SideContext>;
  /** Sends a `plugin_event` of the execution. */
  sendEvent(text: string): void;
  /**
   * Reads a secret that the plugin declares, with the rights of the execution. Its value is masked in later log lines.
   * @throws FatalError for a name that is not declared
   */
  secret(name: string): Promise<string>;
  /**
   * Runs `work` and stores its result before this resolves. An attempt after the loss of a worker gets the stored result, and
   * `work` does not run. Stored with the runtime properties of the instance (of a relationship: of its source).
   */
  step<T extends Json>(key: string, work: () => Promise<T>): Promise<T>;
  /** Tells people how far the operation is: `done` of `total`. */
  progress(done: number, total: number, text?: string): void;
  /** Returns the content of a file of the deployment or blueprint. @throws FatalError when there is none. */
  getResource(path: string): Promise<Uint8Array>;
  /** Writes the file to `target` (default: a fresh folder of this run) and returns its path. */
  downloadResource(path: string, target?: string): Promise<string>;
  /** Writes all files below the folder to `target` (default: a fresh folder of this run) and returns its path. */
  downloadDirectory(path: string, target?: string): Promise<string>;
  /** Fills the `{{ }}` templates of a text from `variables` and `ctx`. @throws FatalError with the line of a mistake. */
  render(text: string, variables?: JsonObject): Promise<string>;
  /** Writes a file with its `{{ }}` templates filled from `variables` and `ctx`, and returns its path. */
  downloadResourceAndRender(path: string, target?: string, variables?: JsonObject): Promise<string>;
  /**
   * Offers `ctx` to scripts of this operation on another machine. `hide`: masks the lines that they log.
   * @throws FatalError where no worker runs the operation
   */
  remoteCtx(files: RemoteFiles, hide?: (text: string) => string): Promise<RemoteCtx>;
}

/** An operation of a plugin; its returned value (JSON) becomes the result of the task. */
export type PluginOperation = (ctx: OperationContext, inputs: Readonly<Record<string, Json>>) => unknown;

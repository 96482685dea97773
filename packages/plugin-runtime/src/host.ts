import type { JsonObject } from '@baton/kernel';
import type { ConnectOptions } from '@baton/plugin-sdk/ssh';
import type { ModulePlugin } from './module/module-plugin';
import type { InstanceRecord, NodeRecord, OpenedModel } from './task';

export type EmitKind = 'log' | 'event';

/**
 * Returns the nearest position before or after `at` (`at` itself, if possible) that does not split a secret: the parts
 * of a split secret would not be recognized and hidden. At the end of a text also the beginning of a secret counts
 * whose rest is not read yet.
 */
export type TextCut = (text: string, at: number, side: 'before' | 'after') => number;

/** A Python plugin that is installed on this machine. */
export interface PythonPlugin {
  kind: 'python';
  /** Its virtual environment. */
  prefix: string;
  /** Properties of its entry in the blueprint: ctx.plugin.properties. */
  properties: JsonObject;
}

/** A login at the host of an operation. */
export interface SshLogin {
  connect: ConnectOptions;
  /** Folder for scripts at the host; null: that of temporary files. */
  tempDir: string | null;
  /** To be called before the first command: stores the key of a host that was seen first. */
  connected(): Promise<void>;
}

/** The install script of an agent (docs/agents-install.md). */
export interface AgentScript {
  /** Holds a token: it is masked in all output of the operation. */
  script: string;
  /** Address from which the host can get the script while the token is good. */
  link: string;
  /** For the runtime property `cloudify_agent`. */
  facts: JsonObject;
}

/** Services that the runtime needs from its host: in production the worker, with an rpc behind each call. */
export interface OperationHost {
  /** Reads the model and evaluates the inputs; called again to read later changes of other writers. */
  open(): Promise<OpenedModel>;
  /**
   * Replaces the runtime properties when `version` is still the stored one; returns the new version.
   * @throws AppError conflict_error when another writer was first.
   */
  saveRuntimeProperties(write: {
    instanceId: string;
    version: number;
    properties: JsonObject;
  }): Promise<number>;
  /** Reads all nodes and instances of the deployment, for questions about hosts and relationship targets. */
  readDeployment(): Promise<{
    nodes: NodeRecord[];
    instances: InstanceRecord[];
    scalingGroups?: JsonObject;
  }>;
  /** Returns a file of the deployment or blueprint as a local path that must not be changed. @throws AppError not_found_error */
  readResource(path: string): Promise<string>;
  /** Returns the paths below such a folder, relative to it. @throws AppError not_found_error when there are none */
  listResources(path: string): Promise<string[]>;
  /** Takes a log line or event. A returned promise asks the caller to wait before sending more (back-pressure). */
  emit(kind: EmitKind, level: string, message: string): void | Promise<void>;
  /** Finds the position at which a long text is cut instead of at `at`, so that no secret is split. */
  cutText: TextCut;
  /** Fetches a script by http or https, guarded against addresses inside the installation. */
  fetchUrl(
    url: string,
    options: { caPem: string | null; signal: AbortSignal },
  ): Promise<{ status: number; body: Uint8Array }>;
  /**
   * Returns the plugin of that name in the blueprint, and installs it if necessary; null: none is declared.
   * @throws FatalError when it is declared and cannot be provided
   */
  installedPlugin(name: string): Promise<PythonPlugin | ModulePlugin | null>;
  /**
   * Reads a secret with the rights of the execution. Its value is hidden in all output of the operation from then on.
   * @throws FatalError when there is none, or the execution may not read it
   */
  secret(name: string): Promise<string>;
  /**
   * Makes the record of the agent of the operation's node instance, and its install script. Absent: only workers of the manager do it.
   * @throws FatalError for a host without an agent, and for a wrong `agent_config`
   */
  agentScript?(agentConfig: JsonObject): Promise<AgentScript>;
  /**
   * Reads the login at the host of the operation, for install_method: ssh; its secrets are hidden from then on. Absent: this process
   * runs nothing over SSH.
   * @throws FatalError that names what is missing
   */
  sshLogin?(): Promise<SshLogin>;
  /** Hides the secrets that the operation has read so far. */
  hide(text: string): string;
  /** Path that `deploymentDir` returns or will return; the folder exists, its files perhaps not yet. */
  deploymentPlace(): Promise<string>;
  /** Folder of the deployment on this machine; made when missing. */
  deploymentDir(): Promise<string>;
}

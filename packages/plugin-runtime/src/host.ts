import type { JsonObject } from '@baton/kernel';
import type { InstanceRecord, NodeRecord, OpenedModel } from './task';

export type EmitKind = 'log' | 'event';

/**
 * The next place before or after `at` (itself, if it will do) across which no secret lies that must be hidden: in pieces
 * nobody would know it. Before the end of a text may also stand the beginning of one whose rest is not read yet.
 */
export type TextCut = (text: string, at: number, side: 'before' | 'after') => number;

/** A Python plugin that is installed on this machine. */
export interface PythonPlugin {
  /** Its virtual environment. */
  prefix: string;
  /** Of its entry in the blueprint: ctx.plugin.properties. */
  properties: JsonObject;
}

/** What the runtime asks of whoever runs it: the worker in production, with rpc behind each call. */
export interface OperationHost {
  /** Reads the model and evaluates the inputs; asked again to see what others have written since. */
  open(): Promise<OpenedModel>;
  /**
   * Replaces the runtime properties when `version` is still the stored one; answers the new version.
   * @throws AppError conflict_error when another writer was first.
   */
  saveRuntimeProperties(write: {
    instanceId: string;
    version: number;
    properties: JsonObject;
  }): Promise<number>;
  /** All nodes and instances of the deployment, for questions about hosts and relationship targets. */
  readDeployment(): Promise<{
    nodes: NodeRecord[];
    instances: InstanceRecord[];
    scalingGroups?: JsonObject;
  }>;
  /** A file of the deployment or blueprint as a local path that must not be changed. @throws AppError not_found_error */
  readResource(path: string): Promise<string>;
  /** Paths below such a folder, inside of it. @throws AppError not_found_error when there are none */
  listResources(path: string): Promise<string[]>;
  /** Takes a log line or event. A promise means: wait before sending more (back-pressure). */
  emit(kind: EmitKind, level: string, message: string): void | Promise<void>;
  /** Where a long text is cut instead of at `at` so that no secret is torn apart. */
  cutText: TextCut;
  /** Fetches a script by http or https, guarded against addresses inside the installation. */
  fetchUrl(
    url: string,
    options: { caPem: string | null; signal: AbortSignal },
  ): Promise<{ status: number; body: Uint8Array }>;
  /**
   * The Python plugin of that name in the blueprint, installed when it is not yet; null: none is declared.
   * @throws FatalError when it is declared and cannot be had
   */
  pythonPlugin(name: string): Promise<PythonPlugin | null>;
  /** Where `deploymentDir` is or will be; the folder is there, its files perhaps not yet. */
  deploymentPlace(): Promise<string>;
  /** Folder of the deployment on this machine, made when missing. */
  deploymentDir(): Promise<string>;
}

import type { JsonObject } from '@baton/kernel';
import type { InstanceRecord, NodeRecord, OpenedModel } from './task';

export type EmitKind = 'log' | 'event';

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
  /** Fetches a script by http or https, guarded against addresses inside the installation. */
  fetchUrl(
    url: string,
    options: { caPem: string | null; signal: AbortSignal },
  ): Promise<{ status: number; body: Uint8Array }>;
  /** Folder of the deployment on this machine, made when missing. */
  deploymentDir(): Promise<string>;
}

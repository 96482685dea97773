import type { Json, JsonObject } from '@baton/kernel';

/** The data that the runtime needs about one attempt of one operation; an assignment of the engine has this shape. */
export interface OperationTask {
  taskId: string;
  attempt: number;
  executionId: string;
  tenant: string;
  deploymentId: string;
  deploymentDisplayName: string;
  blueprintId: string;
  workflowId: string;
  workflowParameters: Record<string, unknown>;
  createdBy: string;
  isDryRun: boolean;
  /** Full name in the plan: cloudify.interfaces.lifecycle.create. */
  operation: string;
  /** Mapping without the plugin's alias: script_runner.tasks.run. */
  mapping: string;
  plugin: {
    name: string;
    packageName: string | null;
    packageVersion: string | null;
    source: string | null;
    properties: unknown;
  };
  self: { nodeInstanceId: string; nodeId: string } | null;
  related: { nodeInstanceId: string; nodeId: string; isTarget: boolean } | null;
  inputs: Record<string, unknown>;
  /** Whether the host must evaluate the inputs before the call. */
  hasFunctions: boolean;
  retryNumber: number;
  maxRetries: number;
  /** Null: no limit. */
  timeoutMs: number | null;
  isTimeoutRecoverable: boolean;
  isResumed: boolean;
  executionToken: string;
  /** True for an operation of a host that a worker runs there over SSH (install_method: ssh). */
  isOverSsh?: boolean | undefined;
  /** True for the code of the workflow itself; `inputs` are its parameters. */
  isWorkflowCode?: boolean | undefined;
  waitAfterFailMs?: number | undefined;
  retryDefaults?: { taskRetries: number; taskRetryIntervalMs: number; subgraphRetries: number } | undefined;
}

/** A node in the format of REST. */
export interface NodeRecord {
  id: string;
  type: string;
  type_hierarchy: string[];
  properties: JsonObject;
  number_of_instances: number;
}

/** A node instance in the format of REST. */
export interface InstanceRecord {
  id: string;
  node_id: string;
  host_id: string | null;
  /** Address of the host as stored when the operation was opened. */
  host_ip?: Json;
  version: number;
  state: string;
  index: number;
  runtime_properties: JsonObject;
  system_properties: JsonObject;
  relationships: { type: string; type_hierarchy?: string[]; target_id: string; target_name: string }[];
  scaling_groups: { id: string; name: string }[];
}

export interface SideRecord {
  node: NodeRecord;
  instance: InstanceRecord;
}

/** Result of opening an operation: evaluated inputs and both sides. */
export interface OpenedModel {
  inputs: JsonObject;
  self: SideRecord | null;
  related: SideRecord | null;
  /** {id, display_name, creator, resource_tags, runtime_only_evaluation}. */
  deployment: JsonObject;
}

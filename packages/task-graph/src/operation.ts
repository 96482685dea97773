import type { JsonObject } from '@baton/kernel';

/** The data that a worker needs for the context of an operation, besides the execution itself (reference workflows.md 4.1). */
export interface OperationPayload {
  /** `<interface>.<operation>` as requested. */
  operation: string;
  /** The implementation: the path after the plugin's alias, e.g. `script_runner.tasks.run`. */
  implementation: string;
  plugin: { name: string; packageName: string | null; packageVersion: string | null };
  executor: 'host_agent' | 'central_deployment_agent';
  /** Address of the agent that runs it, `tenant/node instance`; absent: a worker of the manager runs it. */
  agent?: string;
  /** Name of that agent where it is not the id of its node instance; only for texts. */
  agentName?: string;
  /** A worker runs it at the host over SSH. */
  isOverSsh?: true;
  inputs: JsonObject;
  inputsTypes: JsonObject | null;
  hasIntrinsicFunctions: boolean;
  /** The instance for which the operation runs; for a relationship operation, the instance on whose side it runs. */
  nodeInstanceId: string;
  nodeId: string;
  hostId: string | null;
  /** Only for relationship operations. */
  relationship: {
    side: 'source' | 'target';
    type: string;
    sourceId: string;
    sourceNode: string;
    targetId: string;
    targetNode: string;
  } | null;
  /** Seconds, null = none. */
  timeout: number | null;
  timeoutRecoverable: boolean;
  /** The operation is the code of the workflow itself: it submits the other tasks, and its end is the end of the graph. */
  isWorkflowCode?: true;
}

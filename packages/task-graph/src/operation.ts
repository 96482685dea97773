import type { JsonObject } from '@baton/kernel';

/** Everything the worker's context of an operation needs beside the execution itself (reference workflows.md 4.1). */
export interface OperationPayload {
  /** `<interface>.<operation>` as asked for. */
  operation: string;
  /** The implementation: the path behind the plugin's alias, e.g. `script_runner.tasks.run`. */
  implementation: string;
  plugin: { name: string; packageName: string | null; packageVersion: string | null };
  executor: 'host_agent' | 'central_deployment_agent';
  inputs: JsonObject;
  inputsTypes: JsonObject | null;
  hasIntrinsicFunctions: boolean;
  /** The instance the operation runs for; of a relationship operation, the side it runs on. */
  nodeInstanceId: string;
  nodeId: string;
  hostId: string | null;
  /** Only of relationship operations. */
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
  /** This is the code of the workflow itself: its end is the end of the graph, whose other tasks it submits. */
  isWorkflowCode?: true;
}

import type { Json, JsonObject } from '@baton/kernel';
import type { GraphOutcome } from './decision';
import type { DeploymentModel } from './model';
import type { GraphSpec, SystemPropertyEdit } from './task';

/** What a workflow decides its next stage from. The model is read anew for each stage. */
export interface WorkflowInput {
  workflowId: string;
  executionId: string;
  deploymentId: string;
  blueprintId: string;
  /** Merged and converted (reference workflows.md 1.2). */
  parameters: JsonObject;
  model: DeploymentModel;
  config: WorkflowConfig;
  resume: boolean;
  dryRun: boolean;
  /**
   * The stages of `history` were not carried out, and what they would have done to the model is assumed: a dry run, or
   * the plan of an execution that has not begun.
   */
  isRehearsal?: boolean;
}

/** Values in force for one execution (reference workflows.md 2.4, 2.5). */
export interface WorkflowConfig {
  /** -1 = without end. */
  taskRetries: number;
  taskRetryIntervalMs: number;
  subgraphRetries: number;
  waitAfterFailMs: number;
}

/**
 * One step of a workflow. Its `name` is unique within the execution: the caller stores a result under it and never runs
 * the same stage twice. `memo` is handed back in the stage's result: what a later stage must know of this one's reasons.
 */
export type Stage =
  | { kind: 'graph'; name: string; spec: GraphSpec; memo?: Json; log?: StageLog[] }
  | { kind: 'call'; name: string; request: CallRequest; memo?: Json; log?: StageLog[] }
  | { kind: 'end'; outcome: 'succeeded'; log?: StageLog[] }
  | { kind: 'end'; outcome: 'failed'; error: { type: string; message: string }; log?: StageLog[] };

export interface StageLog {
  level: 'debug' | 'info' | 'warning' | 'error';
  message: string;
}

/** A stage that ended. A cancelled graph ends the workflow before the next stage is asked for. */
export type StageResult =
  | { kind: 'graph'; name: string; outcome: Exclude<GraphOutcome, { kind: 'cancelled' }>; memo?: Json }
  | { kind: 'call'; name: string; response: Json; error?: undefined; memo?: Json }
  | { kind: 'call'; name: string; error: { type: string; message: string }; memo?: Json };

/** What a workflow asks of other services. Each is idempotent by (execution, stage name). */
export type CallRequest =
  /** -> `{modification_id, added: ids, removed: ids, related: ids}` */
  | {
      call: 'modification-start';
      entities: JsonObject;
      context: JsonObject;
    }
  | { call: 'modification-finish'; modificationId: string }
  | { call: 'modification-rollback'; modificationId: string }
  | { call: 'system-properties'; changes: { nodeInstanceId: string; edits: SystemPropertyEdit[] }[] }
  /**
   * What the call would answer; nothing is changed. Of a modification also `instances`: those added and related as they
   * would be; of an update `steps`: descriptions of all.
   */
  | { call: 'rehearse'; of: Extract<CallRequest, { call: 'modification-start' | 'update-prepare' }> }
  /** Nothing to do: the stage only keeps its `memo`. Answer null at once. */
  | { call: 'note' }
  /** Stage A of a deployment update -> `{unsupported: descriptions of steps that cannot be carried out}` */
  | { call: 'update-prepare'; updateId: string; parameters: JsonObject }
  /** Stage B: the new model is in place afterwards -> UpdateChanges. */
  | { call: 'update-perform'; updateId: string }
  /** Stage D. */
  | { call: 'update-finish'; updateId: string }
  | { call: 'update-state'; updateId: string; state: string }
  /** Enters an update of the deployment, as a request for one does -> `{update_id, parameters}` of the workflow `update`. */
  | { call: 'update-begin'; parameters: JsonObject }
  /** Start an execution and wait until it ended -> `{execution_id, status}`; `timeoutMs` null = no limit. */
  | {
      call: 'run-execution';
      deploymentId: string;
      workflowId: string;
      parameters: JsonObject;
      force: boolean;
      allowCustomParameters: boolean;
      timeoutMs: number | null;
      /** A workflow of the manager's own, which no user may name. */
      isSystem?: boolean;
    }
  /** Make a group of the deployments below, run a workflow on it, wait, delete the group. */
  | {
      call: 'run-on-services';
      groupId: string;
      deploymentId: string;
      workflowId: string;
      parameters: JsonObject;
    };

/** What `update-perform` answers: ids of node instances (as finally named), from the difference of the plans. */
export interface UpdateChanges {
  added: string[];
  added_related: string[];
  removed: string[];
  removed_related: string[];
  extended: string[];
  reduced: string[];
  /** [source instance, target instance] of relationships that come or go on surviving instances. */
  extended_relationships: [string, string][];
  reduced_relationships: [string, string][];
  /** Ids of nodes with a changed property or operation. */
  changed_nodes: string[];
  /** Of a custom workflow: what the steps touch, by kind. */
  modified_entity_ids?: JsonObject;
}

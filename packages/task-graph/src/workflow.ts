import type { Json, JsonObject } from '@baton/kernel';
import type { GraphOutcome } from './decision';
import type { DeploymentModel } from './model';
import type { GraphSpec, SystemPropertyEdit } from './task';

/** Input from which a workflow decides its next stage. The model is read anew for each stage. */
export interface WorkflowInput {
  workflowId: string;
  executionId: string;
  deploymentId: string;
  blueprintId: string;
  /** Merged and converted parameters (reference workflows.md 1.2). */
  parameters: JsonObject;
  model: DeploymentModel;
  config: WorkflowConfig;
  resume: boolean;
  dryRun: boolean;
  /**
   * True for a dry run, or for the plan of an execution that has not begun: the stages of `history` were not carried
   * out, and their effects on the model are assumed.
   */
  isRehearsal?: boolean;
}

/** Settings in force for one execution (reference workflows.md 2.4, 2.5). */
export interface WorkflowConfig {
  /** Tenant of the execution: part of the addresses of its agents. */
  tenant: string;
  /** -1 = unlimited. */
  taskRetries: number;
  taskRetryIntervalMs: number;
  subgraphRetries: number;
  waitAfterFailMs: number;
}

/**
 * One step of a workflow. Its `name` is unique within the execution: the caller stores the result under it and never
 * runs the same stage twice. The stage's result returns `memo`: data about this stage that a later stage needs.
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

/** Result of a stage that ended. After a cancelled graph the workflow ends, and no next stage is requested. */
export type StageResult =
  | { kind: 'graph'; name: string; outcome: Exclude<GraphOutcome, { kind: 'cancelled' }>; memo?: Json }
  | { kind: 'call'; name: string; response: Json; error?: undefined; memo?: Json }
  | { kind: 'call'; name: string; error: { type: string; message: string }; memo?: Json };

/** Requests of a workflow to other services. Each is idempotent by (execution, stage name). */
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
   * Returns the expected answer of the call `of` and changes nothing. For a modification the answer also has
   * `instances`: the added and related instances as they would be. For an update it also has `steps`: descriptions of
   * all steps.
   */
  | { call: 'rehearse'; of: Extract<CallRequest, { call: 'modification-start' | 'update-prepare' }> }
  /** Does nothing: the stage only keeps its `memo`. The answer is null at once. */
  | { call: 'note' }
  /** Stage A of a deployment update -> `{unsupported: descriptions of steps that cannot be carried out}` */
  | { call: 'update-prepare'; updateId: string; parameters: JsonObject }
  /** Stage B: puts the new model in place -> UpdateChanges. */
  | { call: 'update-perform'; updateId: string }
  /** Stage D. */
  | { call: 'update-finish'; updateId: string }
  | { call: 'update-state'; updateId: string; state: string }
  /** Creates an update of the deployment, as an API request would -> `{update_id, parameters}` of the workflow `update`. */
  | { call: 'update-begin'; parameters: JsonObject }
  /** Starts an execution and waits until it has ended -> `{execution_id, status}`; `timeoutMs` null = no limit. */
  | {
      call: 'run-execution';
      deploymentId: string;
      workflowId: string;
      parameters: JsonObject;
      force: boolean;
      allowCustomParameters: boolean;
      timeoutMs: number | null;
      /** A workflow of the manager itself, which no user may name. */
      isSystem?: boolean;
    }
  /** Makes a group of the deployments below this one, runs a workflow on it, waits, deletes the group. */
  | {
      call: 'run-on-services';
      groupId: string;
      deploymentId: string;
      workflowId: string;
      parameters: JsonObject;
    };

/** Answer of `update-perform`: ids of node instances (with their final names), from the difference of the plans. */
export interface UpdateChanges {
  added: string[];
  added_related: string[];
  removed: string[];
  removed_related: string[];
  extended: string[];
  reduced: string[];
  /** [source instance, target instance] of relationships that are added to or removed from surviving instances. */
  extended_relationships: [string, string][];
  reduced_relationships: [string, string][];
  /** Ids of nodes with a changed property or operation. */
  changed_nodes: string[];
  /** For a custom workflow: the entities that the steps touch, by kind. */
  modified_entity_ids?: JsonObject;
}

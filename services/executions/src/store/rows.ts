import { defineFormat, type Json, type JsonObject } from '@baton/kernel';
import type {
  Deferral,
  ExecutionStatus,
  GraphFlags,
  OperationState,
  Stage,
  StageResult,
  SystemPropertyEdit,
  TaskError,
  TaskSpec,
} from '@baton/task-graph';

/**
 * The next step of the engine for an execution. `waiting` and `ended` need no step; `awaiting` waits for the end of executions
 * that it has started (engine/commands/await-nested.ts).
 */
export type Phase = 'waiting' | 'planning' | 'running' | 'calling' | 'awaiting' | 'ending' | 'ended';

/** The current stage, as stored: graphs have their tasks in rows of their own. */
export type StoredStage =
  | { kind: 'graph'; name: string; memo?: Json }
  | { kind: 'call'; name: string; memo?: Json; request: Extract<Stage, { kind: 'call' }>['request'] };

/** The outcome with which an execution will end; it is decided before the last effects are delivered. */
export interface Outcome {
  status: 'terminated' | 'failed' | 'cancelled';
  error: string;
}

/** Format of `stage`, `history` and `outcome` of an execution, which programs of later releases read (ADR 0027). */
export const HISTORY_FORMAT = defineFormat('workflow history', 1, [1]);
/** Format of a row of `tasks_graphs` with its document, marks and task rows (ADR 0027). */
export const GRAPH_FORMAT = defineFormat('task graph', 1, [1]);

/** Added to the version of each execution by a restore of a snapshot: greater than any version that an execution reaches. */
export const RESTORE_VERSIONS = 1_000_000_000;

/** A row of `executions`. Instants are ISO texts. */
export interface ExecutionRow {
  id: string;
  /** HISTORY_FORMAT; null or absent: 1. */
  format?: number | null;
  tenant: string;
  request_id: string;
  payload_hash: string;
  workflow_id: string;
  /** Built-in program of packages/task-graph; null = a workflow of a plugin or script. */
  program: string | null;
  deployment_id: string | null;
  deployment_display_name: string | null;
  /** The execution that created the deployment; null: not known, or there is no deployment. */
  deployment_made_by: string | null;
  blueprint_id: string | null;
  visibility: string;
  created_by: string;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  scheduled_for: string | null;
  status: ExecutionStatus;
  error: string | null;
  parameters: JsonObject;
  is_system_workflow: boolean;
  is_dry_run: boolean;
  is_forced: boolean;
  is_resumed: boolean;
  allow_custom_parameters: boolean;
  wait_after_fail_s: number;
  total_operations: number | null;
  finished_operations: number | null;
  token_hash: string;
  phase: Phase;
  stage: StoredStage | null;
  history: StageResult[];
  graph_id: string | null;
  earlier_total: number;
  earlier_finished: number;
  version: number;
  last_event_seq: number;
  last_state_seq: number;
  outcome: Outcome | null;
  wake_at: string | null;
  cancel_requested_at: string | null;
  /** Until this time, running operations may end by themselves after a plain cancel; null: no such wait. */
  cancel_deadline: string | null;
  /** The execution ended while workers still ran operations of it; the leases show whether they still run. */
  has_left_runs: boolean;
  execution_group_id: string | null;
  /** Set on an ended member of a group that is to be resumed when there is room. */
  resume_wish: 'resume' | 'force-resume' | null;
  /** The execution whose stage has started this one. */
  parent_id: string | null;
  /**
   * The workflow must be started on the components of its deployment before this execution begins
   * (engine/commands/cascade-member.ts).
   */
  is_cascading: boolean;
}

/** A row of `tasks`: a task of packages/task-graph with its lease. */
export interface StoredTask {
  id: string;
  graph_id: string;
  execution_id: string;
  idx: number;
  spec: Omit<TaskSpec, 'idx'>;
  state: OperationState;
  attempt: number;
  losses: number;
  retries: number;
  not_before: number | null;
  error: TaskError | null;
  result: Json;
  deferral: Deferral | null;
  worker_id: string | null;
  lease_until: string | null;
  version: number;
  created_at: string;
}

export interface StoredGraph {
  id: string;
  /** GRAPH_FORMAT. */
  format: number;
  execution_id: string;
  name: string;
  created_at: string;
  wait_after_fail_ms: number;
  is_dry_run: boolean;
  flags: GraphFlags;
  /** TaskSpec[], compressed (engine/store/task-document.ts); null: each task has a row. */
  tasks: Buffer | null;
}

/** A node-instance state that is not yet delivered to deployments. */
export interface InstanceStateRow {
  seq: number;
  node_instance_id: string;
  state: string | null;
  edits: SystemPropertyEdit[] | null;
}

/** An event or log line before it gets its sequence number. */
export interface NewEvent {
  isLog: boolean;
  eventType: string | null;
  level: string | null;
  logger: string | null;
  message: string;
  errorCauses: { type: string; message: string; traceback: string | null }[] | null;
  operation: string | null;
  nodeInstanceId: string | null;
  nodeName: string | null;
  sourceId: string | null;
  targetId: string | null;
  worker: string | null;
  /** ISO instant; null = now in the database. */
  reportedAt: string | null;
}

/** One run of an operation at a worker. */
export interface KilledRun {
  id: string;
  attempt: number;
}

// Generated from services/executions/migrations by tools/gen-tables.mjs. Do not edit.

import type { ColumnType } from "kysely";

export type Generated<T> = T extends ColumnType<infer S, infer I, infer U>
  ? ColumnType<S, I | undefined, U>
  : ColumnType<T, T | undefined, T>;

export type Json = JsonValue;

export type JsonArray = JsonValue[];

export type JsonObject = {
  [x: string]: JsonValue | undefined;
};

export type JsonPrimitive = boolean | number | string | null;

export type JsonValue = JsonArray | JsonObject | JsonPrimitive;

export interface ClientGraphs {
  created_at: Generated<string>;
  execution_id: string;
  id: string;
  name: string;
  state: string | null;
}

export interface ClientOperations {
  agent_name: string | null;
  created_at: Generated<string>;
  dependencies: Json;
  execution_id: string;
  graph_id: string;
  id: string;
  is_counted: Generated<boolean>;
  manager_name: string | null;
  name: string;
  parameters: Json;
  position: Generated<number>;
  state: string;
  tenant: string;
  type: string;
}

export interface DeploymentGuards {
  deployment_id: string;
  tenant: string;
}

export interface EventBatches {
  batch_id: string;
  received_at: Generated<string>;
}

export interface EventChunks {
  from_at: string;
  reported_from: string | null;
  reported_to: string | null;
  to_at: string;
}

export interface EventChunksReopened {
  from_at: string;
}

export interface EventCounts {
  creator: string;
  event_type: string | null;
  from_at: string;
  is_log: boolean;
  level: string | null;
  tenant_name: string;
  total: number;
  visibility: string;
}

export interface EventLooks {
  seen_at: string;
  writers: string[];
}

export interface EventMessages {
  creator: string;
  event_type: string | null;
  from_at: string;
  is_log: boolean;
  level: string | null;
  message: string;
  operation: string | null;
  tenant_name: string;
  total: number;
  visibility: string;
}

export interface EventNodes {
  creator: string;
  event_type: string | null;
  from_at: string;
  is_log: boolean;
  level: string | null;
  node_name: string | null;
  tenant_name: string;
  total: number;
  visibility: string;
}

export interface EventPlaces {
  deployment_id: string;
  kind: string;
  seen_at: string;
  value: string;
}

export interface Events {
  blueprint_id: string | null;
  created_at: Generated<string>;
  created_by: string;
  deployment_display_name: string | null;
  deployment_id: string | null;
  error_causes: Json | null;
  event_type: string | null;
  execution_group_id: string | null;
  execution_id: string | null;
  is_log: boolean;
  level: string | null;
  logger: string | null;
  message: string;
  node_instance_id: string | null;
  node_name: string | null;
  operation: string | null;
  reported_at: string;
  seq: number;
  source_id: string | null;
  storage_id: Generated<number>;
  target_id: string | null;
  tenant: string;
  visibility: string;
  worker: string | null;
  workflow_id: string | null;
}

export interface EventValues {
  creator: string;
  field: string;
  from_at: string;
  tenant_name: string;
  total: number;
  value: string | null;
  visibility: string;
}

export interface ExecutionGroups {
  concurrency: number;
  created_at: Generated<string>;
  created_by: string;
  deployment_group_id: string | null;
  failure_group_id: string | null;
  has_queued: Generated<boolean>;
  id: string;
  parent_id: string | null;
  success_group_id: string | null;
  tenant: string;
  visibility: string;
  workflow_id: string;
}

export interface Executions {
  allow_custom_parameters: Generated<boolean>;
  blueprint_id: string | null;
  cancel_deadline: string | null;
  cancel_requested_at: string | null;
  created_at: Generated<string>;
  created_by: string;
  deployment_display_name: string | null;
  deployment_id: string | null;
  deployment_made_by: string | null;
  earlier_finished: Generated<number>;
  earlier_total: Generated<number>;
  ended_at: string | null;
  error: string | null;
  execution_group_id: string | null;
  finished_operations: number | null;
  format: number | null;
  graph_id: string | null;
  has_left_runs: Generated<boolean>;
  history: Generated<Json>;
  id: string;
  is_cascading: Generated<boolean>;
  is_dry_run: Generated<boolean>;
  is_forced: Generated<boolean>;
  is_resumed: Generated<boolean>;
  is_system_workflow: Generated<boolean>;
  last_event_seq: Generated<number>;
  last_state_seq: Generated<number>;
  outcome: Json | null;
  parameters: Generated<Json>;
  parent_id: string | null;
  payload_hash: string;
  phase: string;
  program: string | null;
  request_id: string;
  resume_wish: string | null;
  scheduled_for: string | null;
  stage: Json | null;
  started_at: string | null;
  status: string;
  tenant: string;
  token_hash: string;
  total_operations: number | null;
  version: Generated<number>;
  visibility: string;
  wait_after_fail_s: Generated<number>;
  wake_at: string | null;
  workflow_id: string;
}

export interface ExecutionSchedules {
  created_at: Generated<string>;
  created_by: string;
  deployment_id: string;
  deployment_made_by: string | null;
  enabled: Generated<boolean>;
  execution_arguments: Generated<Json>;
  fires_when_activated: Generated<boolean>;
  id: string;
  key: string;
  latest_execution_id: string | null;
  next_occurrence: string | null;
  parameters: Json | null;
  rule: Json;
  since: string | null;
  slip_minutes: Generated<number>;
  stop_on_fail: Generated<boolean>;
  tenant: string;
  until: string | null;
  visibility: string;
  was_enabled: boolean | null;
  workflow_id: string;
}

export interface ImportFates {
  import_id: string;
  line: string;
  seq: Generated<number>;
}

export interface ImportMarks {
  applied_at: string | null;
  import_id: string;
  outcome: Json | null;
}

export interface ImportRecords {
  digest: Buffer;
  id: string;
  import_id: string;
  tenant: string;
  type: string;
}

export interface ImportStaging {
  batch: number;
  import_id: string;
  records: string;
  tenant: string;
  type: string;
}

export interface Inbox {
  consumer: string;
  message_id: string;
  received_at: Generated<string>;
}

export interface InstanceStates {
  created_at: Generated<string>;
  edits: Json | null;
  execution_id: string;
  node_instance_id: string;
  seq: number;
  state: string | null;
}

export interface ListeningTenants {
  is_listening: boolean;
  tenant: string;
  version: number;
}

export interface Outbox {
  created_at: Generated<string>;
  envelope: Json;
  id: string;
}

export interface RowCounts {
  creator: string;
  kind: string;
  slot: Generated<number>;
  tenant: string;
  total: number;
  visibility: string;
}

export interface ScheduleOccurrences {
  decided_at: Generated<string>;
  execution_id: string | null;
  occurrence: string;
  outcome: string;
  reason: string | null;
  schedule_key: string;
}

export interface SnapshotStaging {
  batch: number;
  restore_id: string;
  rows: string;
  table_name: string;
}

export interface SnapshotSwitches {
  restore_id: string;
  switched_at: Generated<string>;
}

export interface StatusChanges {
  blueprint_id: string | null;
  changed_at: Generated<string>;
  created_by: string;
  deployment_id: string | null;
  execution_id: string;
  id: Generated<number>;
  status: string;
  tenant: string;
  workflow_id: string;
}

export interface TaskMarks {
  created_at: Generated<string | null>;
  graph_id: string;
  marks: Json;
  version: number;
}

export interface Tasks {
  agent: string | null;
  attempt: number;
  created_at: Generated<string>;
  deferral: Json | null;
  dispatched_at: string | null;
  ended_at: string | null;
  error: Json | null;
  execution_id: string;
  graph_id: string;
  id: string;
  idx: number;
  is_kill_requested: Generated<boolean>;
  lease_until: string | null;
  losses: number;
  not_before: number | null;
  result: Json | null;
  retries: number;
  spec: Json;
  started_at: string | null;
  state: string;
  version: number;
  worker_id: string | null;
}

export interface TasksGraphs {
  created_at: Generated<string>;
  execution_id: string;
  flags: Json;
  format: Generated<number>;
  id: string;
  is_dry_run: boolean;
  name: string;
  tasks: Buffer | null;
  wait_after_fail_ms: number;
}

export interface Workers {
  about: Json;
  id: string;
  last_seen: Generated<string>;
  public_key: string | null;
  registered_at: string | null;
  revoked_at: string | null;
}

export interface DB {
  client_graphs: ClientGraphs;
  client_operations: ClientOperations;
  deployment_guards: DeploymentGuards;
  event_batches: EventBatches;
  event_chunks: EventChunks;
  event_chunks_reopened: EventChunksReopened;
  event_counts: EventCounts;
  event_looks: EventLooks;
  event_messages: EventMessages;
  event_nodes: EventNodes;
  event_places: EventPlaces;
  event_values: EventValues;
  events: Events;
  execution_groups: ExecutionGroups;
  execution_schedules: ExecutionSchedules;
  executions: Executions;
  import_fates: ImportFates;
  import_marks: ImportMarks;
  import_records: ImportRecords;
  import_staging: ImportStaging;
  inbox: Inbox;
  instance_states: InstanceStates;
  listening_tenants: ListeningTenants;
  outbox: Outbox;
  row_counts: RowCounts;
  schedule_occurrences: ScheduleOccurrences;
  snapshot_staging: SnapshotStaging;
  snapshot_switches: SnapshotSwitches;
  status_changes: StatusChanges;
  task_marks: TaskMarks;
  tasks: Tasks;
  tasks_graphs: TasksGraphs;
  workers: Workers;
}

// Generated from services/deployments/migrations by tools/gen-tables.mjs. Do not edit.

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

export interface AgentAuthorities {
  certificate: string;
  created_at: Generated<string>;
  expires_at: string;
  id: string;
  key_sealed: Buffer | null;
  kind: string;
  retired_at: string | null;
  superseded_at: string | null;
}

export interface AgentEnrolments {
  certificate: string | null;
  created_at: Generated<string>;
  expires_at: string;
  link_digest: Buffer;
  name: string;
  script: Buffer;
  tenant: string;
  token_digest: Buffer;
  used_for: Buffer | null;
}

export interface AgentPackages {
  platform: string;
  seen_at: Generated<string>;
  sha256: string;
  size: number;
  version: string;
}

export interface Agents {
  about: Json | null;
  certificate_authority: string | null;
  certificate_serial: string | null;
  certificate_until: string | null;
  connected_since: string | null;
  created_at: Generated<string>;
  created_by: string;
  env_sealed: Buffer | null;
  epoch: Generated<number>;
  former_authority: string | null;
  former_process: string | null;
  former_serial: string | null;
  former_until: string | null;
  gateway_id: string | null;
  id: Generated<string | null>;
  install_method: string | null;
  ip: string | null;
  last_seen: string | null;
  name: string;
  node_instance_id: string;
  process_id: string | null;
  rabbitmq_exchange: string | null;
  revoked_at: string | null;
  settings: Json | null;
  settings_since: string | null;
  state: string;
  system: string | null;
  tenant: string;
  told_at: string | null;
  updated_at: string | null;
  upgrade_since: string | null;
  upgrade_state: string | null;
  upgrade_told_at: string | null;
  version: string | null;
  wanted_version: string | null;
}

export interface AgentUpgrades {
  created_at: Generated<string>;
  created_by: string;
  ended_at: string | null;
  reason: string | null;
  state: Generated<string>;
  tenant: string;
  total: number;
  version: string;
}

export interface DeploymentFilters {
  created_at: Generated<string>;
  created_by: string;
  id: string;
  is_system_filter: Generated<boolean>;
  tenant: string;
  updated_at: Generated<string>;
  value: Json;
  visibility: string;
}

export interface DeploymentGroupLabels {
  created_at: Generated<string>;
  created_by: string;
  creator_id: number;
  group_key: number;
  key: string;
  value: string;
}

export interface DeploymentGroupMembers {
  deployment_key: number;
  group_key: number;
  seq: Generated<number>;
}

export interface DeploymentGroupRequests {
  created_at: Generated<string>;
  payload_hash: string;
  request_id: string;
  tenant: string;
}

export interface DeploymentGroups {
  created_at: Generated<string>;
  created_by: string;
  creation_counter: Generated<number>;
  default_blueprint_id: string | null;
  default_inputs: Json | null;
  description: string | null;
  id: string;
  key: Generated<number>;
  tenant: string;
  visibility: string;
}

export interface DeploymentLabels {
  created_at: Generated<string>;
  created_by: string;
  creator_id: number;
  deployment_key: number;
  key: string;
  tenant: string;
  value: string;
}

export interface DeploymentModifications {
  added_and_related: Json;
  before_counts: Json;
  before_modification: Json;
  before_rollback: Generated<Json>;
  context: Json | null;
  created_at: Generated<string>;
  created_by: string;
  deployment_key: number;
  ended_at: string | null;
  id: string;
  modified_nodes: Json;
  removed_and_related: Json;
  status: string;
}

export interface DeploymentParents {
  child_key: number;
  parent_key: number;
}

export interface DeploymentPlans {
  capabilities: Json;
  deployment_key: number;
  inputs: Json;
  model: Buffer;
  node_types: string[];
  outputs: Json;
  resource_tags: Json;
  scaling_groups: Json;
}

export interface DeploymentQuarantines {
  deployment_key: number;
  import_id: string;
  since: Generated<string>;
  source: string;
}

export interface Deployments {
  blueprint_id: string | null;
  create_execution: string | null;
  created_at: Generated<string>;
  created_by: string;
  deletion: Json | null;
  deployment_status: Generated<string>;
  description: string | null;
  display_name: string;
  id: string;
  installation_status: Generated<string>;
  is_environment: Generated<boolean>;
  key: Generated<number>;
  latest_at: string | null;
  latest_execution: string | null;
  latest_finished_operations: Generated<number>;
  latest_status: string | null;
  latest_total_operations: Generated<number>;
  latest_version: Generated<number>;
  latest_workflow_id: string | null;
  own_status: Generated<string>;
  revision: Generated<number>;
  runtime_only_evaluation: Generated<boolean>;
  site_key: number | null;
  sub_environments_count: Generated<number>;
  sub_environments_status: string | null;
  sub_services_count: Generated<number>;
  sub_services_status: string | null;
  tenant: string;
  updated_at: Generated<string>;
  visibility: string;
}

export interface DeploymentTexts {
  body: string;
  deployment_key: number;
  shared: string;
  state: string;
}

export interface DeploymentUpdates {
  changes: Json | null;
  created_at: Generated<string>;
  created_by: string;
  deployment_key: number;
  deployment_update_node_instances: Json | null;
  deployment_update_nodes: Json | null;
  execution_id: string | null;
  id: string;
  is_administrator: boolean;
  labels_to_create: Json | null;
  leaving: Json | null;
  modified_entity_ids: Json | null;
  new_blueprint_id: string;
  new_inputs: Json;
  old_blueprint_id: string | null;
  old_inputs: Json;
  preparation: Json | null;
  runtime_only_evaluation: boolean;
  state: Generated<string>;
  steps: Generated<Json>;
}

export interface Documents {
  body: Json;
  created_at: Generated<string>;
  digest: Buffer;
}

export interface DriftChanges {
  changed_at: Generated<string>;
  deployment_key: number;
  id: Generated<number>;
  instance_id: string;
  is_drifted: boolean;
  tenant: string;
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

export interface InterDeploymentDependencies {
  created_at: Generated<string>;
  created_by: string;
  dependency_creator: string;
  external_source: Json | null;
  external_target: Json | null;
  id: string;
  source_key: number | null;
  target_deployment_func: Json | null;
  target_key: number | null;
  tenant: string;
  visibility: string;
}

export interface LooseBlobs {
  digest: string;
  since: Generated<string>;
}

export interface ModelCalls {
  call_name: string;
  created_at: Generated<string>;
  deployment_key: number;
  execution_id: string;
  result: Json;
}

export interface NodeInstanceFileLocks {
  expires_at: string;
  holder: string;
  instance_id: string;
  lock_id: string;
  name: string;
  taken_at: Generated<string>;
  tenant: string;
}

export interface NodeInstanceFiles {
  blob_digest: string;
  instance_id: string;
  name: string;
  sha256: string;
  size: number;
  tenant: string;
  updated_at: Generated<string>;
}

export interface NodeInstances {
  applied_execution: string | null;
  applied_seq: number | null;
  deployment_key: number;
  has_configuration_drift: Generated<boolean>;
  host_id: string | null;
  id: string;
  index: number;
  is_status_check_ok: Generated<boolean>;
  node_id: string;
  private_to: string | null;
  properties_version: Generated<number>;
  relationships: Generated<Json>;
  runtime_properties: Generated<Json>;
  scaling_groups: Generated<Json>;
  seq: Generated<number>;
  state: Generated<string>;
  system_properties: Json | null;
  tenant: string;
  version: Generated<number>;
  visibility: string;
  written_attempt: number | null;
  written_task: string | null;
}

export interface Nodes {
  definition: Buffer;
  deploy_number_of_instances: number;
  deployment_key: number;
  host_id: string | null;
  id: string;
  max_number_of_instances: number;
  min_number_of_instances: number;
  number_of_instances: number;
  planned_number_of_instances: number;
  position: number;
  properties: Json;
  seq: Generated<number>;
  type: string;
}

export interface Outbox {
  created_at: Generated<string>;
  envelope: Json;
  id: string;
}

export interface PluginsUpdates {
  all_tenants: boolean;
  auto_correct_types: boolean;
  blueprint_id: string;
  created_at: Generated<string>;
  created_by: string;
  deployments: Generated<Json>;
  execution_id: string | null;
  forced: boolean;
  id: string;
  is_administrator: boolean;
  lease_owner: string | null;
  lease_until: string | null;
  outcome: Json | null;
  selection: Json;
  state: Generated<string>;
  temp_blueprint_id: string;
  tenant: string;
  visibility: string;
}

export interface RowCounts {
  creator: string;
  kind: string;
  slot: Generated<number>;
  tenant: string;
  total: number;
  visibility: string;
}

export interface SettledExecutions {
  execution_id: string;
  settled_at: Generated<string>;
  state_seq: number;
}

export interface Sites {
  created_at: Generated<string>;
  created_by: string;
  key: Generated<number>;
  latitude: number | null;
  longitude: number | null;
  name: string;
  tenant: string;
  visibility: string;
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

export interface WaitingWorkdirs {
  archive: Buffer;
  created_at: Generated<string>;
  deployment_key: number;
  request_id: string;
}

export interface DB {
  agent_authorities: AgentAuthorities;
  agent_enrolments: AgentEnrolments;
  agent_packages: AgentPackages;
  agent_upgrades: AgentUpgrades;
  agents: Agents;
  deployment_filters: DeploymentFilters;
  deployment_group_labels: DeploymentGroupLabels;
  deployment_group_members: DeploymentGroupMembers;
  deployment_group_requests: DeploymentGroupRequests;
  deployment_groups: DeploymentGroups;
  deployment_labels: DeploymentLabels;
  deployment_modifications: DeploymentModifications;
  deployment_parents: DeploymentParents;
  deployment_plans: DeploymentPlans;
  deployment_quarantines: DeploymentQuarantines;
  deployment_texts: DeploymentTexts;
  deployment_updates: DeploymentUpdates;
  deployments: Deployments;
  documents: Documents;
  drift_changes: DriftChanges;
  import_fates: ImportFates;
  import_marks: ImportMarks;
  import_records: ImportRecords;
  import_staging: ImportStaging;
  inbox: Inbox;
  inter_deployment_dependencies: InterDeploymentDependencies;
  loose_blobs: LooseBlobs;
  model_calls: ModelCalls;
  node_instance_file_locks: NodeInstanceFileLocks;
  node_instance_files: NodeInstanceFiles;
  node_instances: NodeInstances;
  nodes: Nodes;
  outbox: Outbox;
  plugins_updates: PluginsUpdates;
  row_counts: RowCounts;
  settled_executions: SettledExecutions;
  sites: Sites;
  snapshot_staging: SnapshotStaging;
  snapshot_switches: SnapshotSwitches;
  waiting_workdirs: WaitingWorkdirs;
}

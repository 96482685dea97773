// Generated from services/cluster-status/migrations by tools/gen-tables.mjs. Do not edit.

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

export interface AuditLog {
  chain: string;
  created_at: string;
  creator_name: string;
  execution_id: string | null;
  id: Generated<number>;
  message_id: string;
  operation: string;
  previous: string;
  ref_id: string;
  ref_identifier: Json;
  ref_table: string;
  request_id: string;
}

export interface Config {
  name: string;
  scope: string;
  updated_at: Generated<string>;
  updater_name: string;
  value: Json;
}

export interface Contacts {
  created_at: Generated<string>;
  email: string;
  first_name: string;
  id: Generated<number>;
  last_name: string;
  number: number;
  organisation: string;
  phone: string | null;
}

export interface ImportReport {
  import_id: string;
  kind: string;
  line: string;
  seq: number;
}

export interface Imports {
  archive_digest: string;
  archive_size: number;
  attempts: Generated<number>;
  counts: Generated<Json>;
  created_at: Generated<string>;
  created_by: string;
  deployments_with_agents: number | null;
  error: Generated<string>;
  format: string | null;
  has_archive: Generated<boolean>;
  id: string;
  keep_archive: Generated<boolean>;
  lease_owner: string | null;
  lease_until: string | null;
  options: Json;
  plan: Json | null;
  report_digest: string | null;
  run_id: string;
  sealed: Buffer | null;
  source: Generated<string>;
  state: string;
  step: Generated<string>;
  tenants: Generated<Json>;
  updated_at: Generated<string>;
  verdict: string | null;
}

export interface Inbox {
  consumer: string;
  message_id: string;
  received_at: Generated<string>;
}

export interface Instances {
  acts_by: Generated<string>;
  checks: Json;
  hostname: string;
  instance_id: string;
  last_seen: Generated<string>;
  pid: number;
  rss_bytes: number;
  service: string;
  started_at: string;
  version: string;
}

export interface License {
  capabilities: Json | null;
  cloudify_version: string | null;
  customer_id: string;
  expiration_date: string | null;
  id: string;
  is_only: Generated<boolean>;
  license_edition: string | null;
  trial: Generated<boolean>;
  uploaded_at: Generated<string>;
}

export interface LogBundles {
  archive_digest: string | null;
  archive_size: number | null;
  attempts: Generated<number>;
  created_at: Generated<string>;
  created_by: string;
  error: Generated<string>;
  execution_id: string | null;
  id: string;
  is_reported: Generated<boolean>;
  job_id: string;
  lease_owner: string | null;
  lease_until: string | null;
  outcome: string | null;
  status: string;
  tenant: string;
}

export interface LooseArchives {
  digest: string;
  since: Generated<string>;
}

export interface Maintenance {
  activated_at: string | null;
  activation_requested_at: string | null;
  is_only: Generated<boolean>;
  requested_by: string | null;
  status: Generated<string>;
}

export interface Managers {
  address: string;
  ca_cert_content: string | null;
  distribution: string;
  distro_release: string;
  edition: string | null;
  fs_sync_node_id: string | null;
  hostname: string;
  id: Generated<number>;
  is_entered: Generated<boolean>;
  last_seen: Generated<string>;
  networks: Json | null;
  public_ip: string | null;
  version: string;
}

export interface Outbox {
  created_at: Generated<string>;
  envelope: Json;
  id: string;
}

export interface ProviderContext {
  context: Json;
  is_only: Generated<boolean>;
  name: string;
}

export interface SnapshotJobs {
  archive_digest: string | null;
  attempts: Generated<number>;
  created_at: Generated<string>;
  created_by: string;
  execution_id: string | null;
  id: string;
  kind: string;
  lease_owner: string | null;
  lease_until: string | null;
  options: Json;
  outcome: Json | null;
  plan: Json | null;
  snapshot_id: string;
  state: Generated<string>;
  tenant: string;
}

export interface Snapshots {
  archive_digest: string | null;
  archive_size: number | null;
  created_at: Generated<string>;
  created_by: string;
  error: Generated<string>;
  id: string;
  status: string;
  tenant: string;
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

export interface TriggerCalls {
  address: string;
  execution_id: string | null;
  message_id: string;
  received_at: Generated<string>;
  request_id: string;
  tenant: string;
}

export interface Triggers {
  address: string;
  created_at: Generated<string>;
  created_by: string;
  deployment_id: string;
  fixed_parameters: Generated<Json>;
  former_sealed: Buffer | null;
  former_until: string | null;
  id: string;
  is_enabled: Generated<boolean>;
  parameters: Generated<Json>;
  scheme: string;
  sealed: Buffer;
  tenant: string;
  updated_at: Generated<string>;
  workflow_id: string;
}

export interface WebhookDeliveries {
  answer: string | null;
  attempts: Generated<number>;
  content_type: string;
  created_at: Generated<string>;
  ended_at: string | null;
  error: string | null;
  event: string;
  event_id: string;
  give_up_at: string;
  id: string;
  last_status: number | null;
  lease_owner: string | null;
  lease_until: string | null;
  next_attempt_at: Generated<string>;
  order_key: string | null;
  payload: string;
  seq: Generated<number>;
  state: Generated<string>;
  tenant: string;
  webhook: string;
}

export interface WebhookHosts {
  failures: number;
  host: string;
  open_until: string | null;
  tenant: string;
}

export interface WebhookInterests {
  is_listening: boolean;
  tenant: string;
  version: number;
}

export interface Webhooks {
  created_at: Generated<string>;
  created_by: string;
  disabled_at: string | null;
  disabled_reason: string | null;
  events: string[];
  filter: Json | null;
  format: string;
  former_key_until: string | null;
  header_names: Generated<string[]>;
  host: string;
  id: string;
  is_enabled: Generated<boolean>;
  max_attempts: number;
  order_by: string | null;
  sealed: Buffer;
  template: string | null;
  tenant: string;
  uid: string;
  updated_at: Generated<string>;
  url: string;
  version: Generated<number>;
}

export interface DB {
  audit_log: AuditLog;
  config: Config;
  contacts: Contacts;
  import_report: ImportReport;
  imports: Imports;
  inbox: Inbox;
  instances: Instances;
  license: License;
  log_bundles: LogBundles;
  loose_archives: LooseArchives;
  maintenance: Maintenance;
  managers: Managers;
  outbox: Outbox;
  provider_context: ProviderContext;
  snapshot_jobs: SnapshotJobs;
  snapshot_staging: SnapshotStaging;
  snapshot_switches: SnapshotSwitches;
  snapshots: Snapshots;
  trigger_calls: TriggerCalls;
  triggers: Triggers;
  webhook_deliveries: WebhookDeliveries;
  webhook_hosts: WebhookHosts;
  webhook_interests: WebhookInterests;
  webhooks: Webhooks;
}

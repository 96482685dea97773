// Generated from services/catalog/migrations by tools/gen-tables.mjs. Do not edit.

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

export interface ArchiveFiles {
  archive_digest: string;
  blob_digest: string | null;
  content: Buffer | null;
  mode: number;
  path: string;
  size: number;
}

export interface Archives {
  digest: string;
  kind: string;
  size: number;
  top_folder: string;
  unpacked_at: Generated<string>;
}

export interface BlueprintFilters {
  created_at: Generated<string>;
  created_by: string;
  id: string;
  is_system_filter: Generated<boolean>;
  tenant: string;
  updated_at: Generated<string>;
  value: Json;
  visibility: string;
}

export interface BlueprintLabels {
  blueprint_id: string;
  created_at: Generated<string>;
  created_by: string;
  creator_id: number;
  key: string;
  tenant: string;
  value: string;
}

export interface Blueprints {
  archive_digest: string | null;
  archive_size: number | null;
  archive_url: string | null;
  attempts: Generated<number>;
  created_at: Generated<string>;
  created_by: string;
  creator_id: number;
  description: string | null;
  diagnostics: Json | null;
  digest: string | null;
  error: string | null;
  error_traceback: string | null;
  icon: Buffer | null;
  id: string;
  is_by_administrator: Generated<boolean>;
  is_hidden: Generated<boolean>;
  lease_owner: string | null;
  lease_until: string | null;
  main_file_name: Generated<string>;
  plan: Json | null;
  requested_labels: Json | null;
  requested_main_file: Generated<string>;
  requirements: Json | null;
  state: string;
  tenant: string;
  updated_at: Generated<string>;
  upload_ended_at: string | null;
  upload_execution_id: string;
  upload_id: string;
  upload_visibility: string | null;
  visibility: string;
}

export interface BlueprintUses {
  blueprint_id: string;
  kind: string;
  name: string;
  tenant: string;
  version: string;
}

export interface CacheKey {
  is_only: Generated<boolean>;
  key: Generated<Buffer>;
}

export interface FileFolders {
  area: string;
  bytes: Generated<number>;
  created_at: Generated<string>;
  files: Generated<number>;
  folder: string;
  tenant: string;
  version: string;
  visibility: string;
}

export interface ImportBlobs {
  digest: string;
  import_id: string;
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

export interface LooseBlobs {
  digest: string;
  since: Generated<string>;
}

export interface Outbox {
  created_at: Generated<string>;
  envelope: Json;
  id: string;
}

export interface PluginInstallations {
  error: string | null;
  plugin_id: string;
  state: string;
  target: string;
  target_kind: string;
}

export interface PluginKeys {
  changed_at: Generated<string>;
  changed_by: string;
  created_at: Generated<string>;
  created_by: string;
  fingerprint: string;
  name: string;
  public_key: string;
  state: Generated<string>;
  tenant: string;
  visibility: Generated<string>;
}

export interface Plugins {
  archive_digest: string | null;
  archive_name: string;
  archive_size: number | null;
  blueprint_labels: Json | null;
  created_by: string;
  distribution: string | null;
  distribution_release: string | null;
  distribution_version: string | null;
  excluded_wheels: Json | null;
  icon: Buffer | null;
  id: string;
  is_bundled: Generated<boolean>;
  labels: Json | null;
  package_name: string;
  package_source: string | null;
  package_version: string | null;
  resource_tags: Json | null;
  signer_fingerprint: string | null;
  signer_name: string | null;
  signer_state: string | null;
  supported_platform: string | null;
  supported_py_versions: Json | null;
  tenant: string;
  title: string | null;
  uploaded_at: Generated<string>;
  visibility: string;
  wagon_digest: string;
  wagon_size: number;
  wheels: Json | null;
}

export interface PluginTrust {
  changed_at: Generated<string>;
  changed_by: string;
  requires_signature: boolean;
  tenant: string;
  visibility: Generated<string>;
}

export interface PluginYamls {
  content: string;
  file_name: string;
  plugin_id: string;
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

export interface StoredFiles {
  area: string;
  blob_digest: string | null;
  content: Buffer | null;
  digest: string;
  folder: string;
  mode: number;
  modified_at: Generated<string>;
  path: string;
  size: number;
  stored_at: Generated<string>;
  tenant: string;
  visibility: string;
}

export interface DB {
  archive_files: ArchiveFiles;
  archives: Archives;
  blueprint_filters: BlueprintFilters;
  blueprint_labels: BlueprintLabels;
  blueprint_uses: BlueprintUses;
  blueprints: Blueprints;
  cache_key: CacheKey;
  file_folders: FileFolders;
  import_blobs: ImportBlobs;
  import_fates: ImportFates;
  import_marks: ImportMarks;
  import_staging: ImportStaging;
  inbox: Inbox;
  loose_blobs: LooseBlobs;
  outbox: Outbox;
  plugin_installations: PluginInstallations;
  plugin_keys: PluginKeys;
  plugin_trust: PluginTrust;
  plugin_yamls: PluginYamls;
  plugins: Plugins;
  snapshot_staging: SnapshotStaging;
  snapshot_switches: SnapshotSwitches;
  stored_files: StoredFiles;
}

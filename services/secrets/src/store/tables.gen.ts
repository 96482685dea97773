// Generated from services/secrets/migrations by tools/gen-tables.mjs. Do not edit.

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

export interface Outbox {
  created_at: Generated<string>;
  envelope: Json;
  id: string;
}

export interface Secrets {
  ciphertext: Buffer;
  created_at: Generated<string>;
  created_by: string;
  is_hidden_value: Generated<boolean>;
  key: string;
  master_key_id: string;
  provider_name: string | null;
  provider_tenant: string | null;
  schema: Json | null;
  tenant: string;
  updated_at: Generated<string>;
  version: number;
  visibility: string;
  wrapped_key: Buffer;
}

export interface SecretsProviders {
  ciphertext: Buffer;
  created_at: Generated<string>;
  created_by: string;
  master_key_id: string;
  name: string;
  tenant: string;
  type: string;
  updated_at: Generated<string>;
  version: number;
  visibility: string;
  wrapped_key: Buffer;
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

export interface DB {
  import_fates: ImportFates;
  import_marks: ImportMarks;
  import_staging: ImportStaging;
  inbox: Inbox;
  outbox: Outbox;
  secrets: Secrets;
  secrets_providers: SecretsProviders;
  snapshot_staging: SnapshotStaging;
  snapshot_switches: SnapshotSwitches;
}

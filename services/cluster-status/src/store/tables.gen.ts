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

export interface Inbox {
  consumer: string;
  message_id: string;
  received_at: Generated<string>;
}

export interface Instances {
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

export interface Managers {
  address: string;
  distribution: string;
  distro_release: string;
  hostname: string;
  id: Generated<number>;
  last_seen: Generated<string>;
  version: string;
}

export interface Outbox {
  created_at: Generated<string>;
  envelope: Json;
  id: string;
}

export interface DB {
  inbox: Inbox;
  instances: Instances;
  managers: Managers;
  outbox: Outbox;
}

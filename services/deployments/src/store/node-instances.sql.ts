import { type AnyQuery, type AnyTx, type Db, prepared, privateCreatorText } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { FoldedWrite } from '../domain/state-writes';
import type { DB } from './tables.gen';

/** A node instance in the form that commands use. */
export interface InstanceRow {
  tenant: string;
  id: string;
  deployment_key: number;
  node_id: string;
  version: number;
  properties_version: number;
  runtime_properties: string;
  written_task: string | null;
  written_attempt: number | null;
  /** Its deployment, and the fields that decide who may see it. */
  deployment_id: string;
  created_by: string;
  visibility: string;
}

const APPLY = {
  name: 'instances-apply-states',
  text: `
    with decided as materialized (
      select ni.tenant, ni.id, w.execution, w.state, w.state_seq, w.seq, w.edits,
        greatest(case when ni.applied_execution = w.execution then ni.applied_seq end,
          (select state_seq from settled_executions where execution_id = w.execution), -1) as done
      from json_to_recordset($1::json) as w(tenant text, execution text, id text, state text, state_seq bigint, seq bigint,
        edits jsonb)
      join node_instances ni on ni.tenant = w.tenant and ni.id = w.id
      order by ni.tenant, ni.id for update of ni
    )
    update node_instances ni set
      state = case when d.state is not null and d.state_seq > d.done then d.state else ni.state end,
      version = ni.version + 1,
      system_properties = case when d.edits is null then ni.system_properties else edit_json(ni.system_properties, (
        select coalesce(jsonb_agg(e.edit order by e.position), '[]')
        from jsonb_array_elements(d.edits) with ordinality as e (edit, position) where (e.edit->>'seq')::bigint > d.done)) end,
      applied_execution = d.execution,
      applied_seq = d.seq
    from decided d
    where ni.tenant = d.tenant and ni.id = d.id and d.seq > d.done`,
};

/** The states that one execution has decided, each instance once. */
export interface ExecutionWrites {
  tenant: string;
  executionId: string;
  writes: readonly FoldedWrite[];
}

/**
 * Applies states that the engine decided. Repeated writes, and writes older than the last one of the same execution, are dropped,
 * also when other executions have written since it ended. It is one statement, which locks rows in the order of their keys. Of two
 * executions that write the same instance only one would be applied: they must come in separate calls.
 */
export async function applyStates(db: Db<DB>, executions: readonly ExecutionWrites[]): Promise<void> {
  const rows = executions.flatMap(({ tenant, executionId, writes }) =>
    writes.map((write) => ({ tenant, execution: executionId, ...write })),
  );
  // Uses only the index, however many rows the planner estimates.
  if (rows.length > 0) await db.statement(APPLY, [JSON.stringify(rows)]);
}

/** Locks an instance. `deploymentId`: only when it belongs to that deployment. */
export async function lockInstance(
  tx: AnyTx,
  tenant: string,
  id: string,
  deploymentId: string | null = null,
): Promise<InstanceRow | null> {
  const rows = await prepared<InstanceRow>(
    tx,
    {
      name: 'instances-lock',
      text: `select ni.tenant, ni.id, ni.deployment_key, ni.node_id, ni.version, ni.properties_version,
          ni.runtime_properties::text as runtime_properties, ni.written_task, ni.written_attempt,
          d.id as deployment_id, d.created_by, d.visibility
        from node_instances ni join deployments d on d.key = ni.deployment_key
        where ni.tenant = $1 and ni.id = $2 and ($3::text is null or ni.deployment_key =
          (select key from deployments where tenant = $1 and id = $3)) for update of ni`,
    },
    [tenant, id, deploymentId],
  );
  return rows[0] ?? null;
}

export interface InstanceChange {
  state?: string;
  /** JSON texts. */
  runtimeProperties?: string;
  systemProperties?: string;
  relationships?: string;
  /** The attempt of the operation that writes. */
  task?: { id: string; attempt: number };
}

/** Writes a locked instance and increases its version by one. Returns the new version. */
export async function writeInstance(
  tx: AnyTx,
  tenant: string,
  id: string,
  change: InstanceChange,
): Promise<number> {
  const rows = await prepared<{ version: number }>(
    tx,
    {
      name: 'instances-write',
      text: `update node_instances set
          version = version + 1,
          state = coalesce($3, state),
          runtime_properties = coalesce($4::json, runtime_properties),
          properties_version = case when $4::json is null then properties_version else version + 1 end,
          system_properties = coalesce($5::jsonb, system_properties),
          relationships = coalesce($6::json, relationships),
          written_task = coalesce($7, written_task),
          written_attempt = coalesce($8, written_attempt)
        where tenant = $1 and id = $2 returning version`,
    },
    [
      tenant,
      id,
      change.state ?? null,
      change.runtimeProperties ?? null,
      change.systemProperties ?? null,
      change.relationships ?? null,
      change.task?.id ?? null,
      change.task?.attempt ?? null,
    ],
  );
  return rows[0]!.version;
}

/** A node instance to be inserted; members are JSON values. */
export interface NewInstance {
  id: string;
  node_id: string;
  index: number;
  host_id: string | null;
  relationships: unknown;
  scaling_groups: unknown;
}

/**
 * Inserts instances of any number of deployments and numbers them (`seq`) in the given order, which is the order of lists.
 * @throws unique violation of node_instances_pkey when an id is taken in the tenant.
 */
export async function insertInstances(
  tx: AnyTx,
  tenant: string,
  instances: readonly (NewInstance & { deployment_key: number })[],
): Promise<void> {
  if (instances.length === 0) return;
  await prepared(
    tx,
    {
      name: 'instances-insert',
      text: `insert into node_instances (tenant, deployment_key, id, node_id, index, host_id, relationships, scaling_groups, visibility, private_to)
        select $1, d.key, i.id, i.node_id, i.index, i.host_id, i.relationships, i.scaling_groups,
          d.visibility, ${privateCreatorText({ table: 'd' })}
        from rows from (json_to_recordset($2::json) as (deployment_key bigint, id text, node_id text, index integer, host_id text, relationships json,
          scaling_groups json)) with ordinality as i(deployment_key, id, node_id, index, host_id, relationships, scaling_groups, place)
        join deployments d on d.key = i.deployment_key
        order by i.place`,
    },
    [tenant, JSON.stringify(instances)],
  );
}

/** Returns those of `ids` that are taken in the tenant. */
export async function takenInstanceIds(
  db: AnyQuery,
  tenant: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from node_instances where tenant = ${tenant} and id = any(${[...ids]}::text[])`.execute(db);
  return rows.map((row) => row.id);
}

export async function deleteInstances(
  tx: AnyTx,
  tenant: string,
  deploymentKey: number,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql`delete from node_instances where tenant = ${tenant} and deployment_key = ${deploymentKey} and id = any(${[...ids]}::text[])`.execute(
    tx,
  );
}

/** Whether an instance is live by its state: neither uninitialized nor deleted. `alias`: of the table in the statement. */
export const isLive = (alias: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`${sql.ref(`${alias}.state`)} not in ('uninitialized', 'deleted')`;

/** Returns the ids of at most five instances of the deployment that are neither uninitialized nor deleted. */
export async function liveInstances(db: AnyQuery, deploymentKey: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from node_instances ni where deployment_key = ${deploymentKey} and ${isLive('ni')} limit 5`.execute(
    db,
  );
  return rows.map((row) => row.id);
}

/** Edits system properties of instances in the order of their ids. `changes`: `[{nodeInstanceId, edits}]`. */
export async function editSystemProperties(
  tx: AnyTx,
  tenant: string,
  deploymentKey: number,
  changes: unknown,
): Promise<void> {
  await sql`
    with c as (select * from json_to_recordset(${JSON.stringify(changes)}::json) as c("nodeInstanceId" text, edits jsonb)),
    locked as materialized (
      select id from node_instances where tenant = ${tenant} and deployment_key = ${deploymentKey} and id in (select "nodeInstanceId" from c) order by id for update
    )
    update node_instances ni set system_properties = edit_json(ni.system_properties, c.edits), version = ni.version + 1
    from c join locked l on l.id = c."nodeInstanceId"
    where ni.tenant = ${tenant} and ni.id = l.id`.execute(tx);
}

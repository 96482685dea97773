import { type AnyTx, isPrivate, privateCreatorText } from '@baton/postgres';
import { sql } from 'kysely';

export interface ModificationRow {
  id: string;
  deployment_key: number;
  status: 'started' | 'finished' | 'rolledback';
  modified_nodes: Record<string, { instances?: number }>;
  added_and_related: { id: string; node_id: string; modification: string }[];
  removed_and_related: { id: string; node_id: string; modification: string }[];
  before_counts: { nodes: { id: string; number: number; planned: number }[]; scaling_groups: unknown };
}

/** @throws unique violation of modifications_one_started. */
export async function insertModification(
  tx: AnyTx,
  m: {
    id: string;
    deploymentKey: number;
    context: unknown;
    modifiedNodes: unknown;
    createdBy: string;
    added: unknown;
    removed: unknown;
    before: string;
    beforeCounts: unknown;
  },
): Promise<void> {
  await sql`insert into deployment_modifications (id, deployment_key, context, modified_nodes, status, created_by, added_and_related, removed_and_related, before_modification, before_counts)
    values (${m.id}, ${m.deploymentKey}, ${JSON.stringify(m.context ?? null)}::json, ${JSON.stringify(m.modifiedNodes)}::json, 'started', ${m.createdBy},
      ${JSON.stringify(m.added)}::json, ${JSON.stringify(m.removed)}::json, ${m.before}::json, ${JSON.stringify(m.beforeCounts)}::json)`.execute(
    tx,
  );
}

export async function lockModification(tx: AnyTx, id: string): Promise<ModificationRow | null> {
  const { rows } = await sql<ModificationRow>`
    select id, deployment_key, status, modified_nodes, added_and_related, removed_and_related, before_counts
    from deployment_modifications where id = ${id} for update`.execute(tx);
  return rows[0] ?? null;
}

export async function endModification(
  tx: AnyTx,
  id: string,
  status: 'finished' | 'rolledback',
  beforeRollback: string,
): Promise<void> {
  await sql`update deployment_modifications set status = ${status}, ended_at = app_now(), before_rollback = ${beforeRollback}::json where id = ${id}`.execute(
    tx,
  );
}

export async function startedModificationIds(tx: AnyTx, deploymentKey: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from deployment_modifications where deployment_key = ${deploymentKey} and status = 'started'`.execute(
    tx,
  );
  return rows.map((row) => row.id);
}

/**
 * Returns every instance of the deployment as JSON text, with all fields of the API, in the order of creation: the copies before a
 * modification and before its rollback.
 */
export async function copyInstances(tx: AnyTx, deploymentKey: number): Promise<string> {
  const { rows } = await sql<{ text: string }>`
    select coalesce(json_agg(json_build_object('id', ni.id, 'node_id', ni.node_id, 'deployment_id', d.id, 'tenant_name', ni.tenant,
      'created_by', d.created_by, 'visibility', ni.visibility, 'private_resource', ${isPrivate('ni')},
      'resource_availability', ni.visibility, 'index', ni.index, 'host_id', ni.host_id, 'state', ni.state, 'version', ni.version,
      'runtime_properties', ni.runtime_properties, 'system_properties', ni.system_properties, 'relationships', ni.relationships,
      'scaling_groups', ni.scaling_groups, 'is_status_check_ok', ni.is_status_check_ok,
      'has_configuration_drift', ni.has_configuration_drift) order by ni.seq), '[]')::text as text
    from node_instances ni join deployments d on d.key = ni.deployment_key
    where ni.deployment_key = ${deploymentKey}`.execute(tx);
  return rows[0]!.text;
}

/** Restores the instances of the stored copy and deletes instances that are not in it. Versions continue to increase. */
export async function restoreInstances(
  tx: AnyTx,
  modificationId: string,
  tenant: string,
  deploymentKey: number,
): Promise<void> {
  const copy = sql`
    (select x.* from deployment_modifications m, json_to_recordset(m.before_modification) as x(id text, node_id text, index integer, host_id text, state text,
      version integer, runtime_properties json, system_properties jsonb, relationships json, scaling_groups json) where m.id = ${modificationId})`;
  await sql`delete from node_instances where deployment_key = ${deploymentKey} and id not in (select id from ${copy} c)`.execute(
    tx,
  );
  await sql`
    insert into node_instances as ni (tenant, deployment_key, id, node_id, index, host_id, state, version, runtime_properties, system_properties, relationships, scaling_groups,
      visibility, private_to)
    select ${tenant}, d.key, c.id, c.node_id, c.index, c.host_id, c.state, c.version, c.runtime_properties, c.system_properties, c.relationships, c.scaling_groups,
      d.visibility, ${sql.raw(privateCreatorText({ table: 'd' }))}
    from ${copy} c, deployments d where d.key = ${deploymentKey} order by c.id
    on conflict (id, tenant) do update set state = excluded.state, version = ni.version + 1, properties_version = ni.version + 1, host_id = excluded.host_id,
      runtime_properties = excluded.runtime_properties, system_properties = excluded.system_properties,
      relationships = excluded.relationships, scaling_groups = excluded.scaling_groups`.execute(tx);
}

/** Removes the relationships of remaining instances to `ids`. */
export async function dropRelationshipsTo(
  tx: AnyTx,
  deploymentKey: number,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update node_instances ni set version = version + 1, relationships = (
      select coalesce(json_agg(r order by n), '[]') from json_array_elements(ni.relationships) with ordinality as x(r, n) where not r ->> 'target_id' = any(${[...ids]}::text[]))
    where ni.deployment_key = ${deploymentKey}
      and exists (select 1 from json_array_elements(ni.relationships) r where r ->> 'target_id' = any(${[...ids]}::text[]))`.execute(
    tx,
  );
}

/** Returns the instances that a modification adds and removes, with those related to them; null: there is none of this id. */
export async function readChanged(
  tx: AnyTx,
  id: string,
): Promise<Record<'added' | 'removed', { id: string; modification: string }[]> | null> {
  const { rows } = await sql<Record<'added' | 'removed', { id: string; modification: string }[]>>`
    select added_and_related as added, removed_and_related as removed from deployment_modifications where id = ${id}`.execute(
    tx,
  );
  return rows[0] ?? null;
}

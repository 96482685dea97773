import type { JsonObject } from '@baton/kernel';
import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DriftChange } from '../domain/drift-summary';

export interface DriftedInstance {
  id: string;
  node_id: string;
  index: number;
  state: string;
  /** The part of its system properties that drift checks write. */
  checks: JsonObject;
}

/** Returns a page of the drifted instances of a deployment by node and index, and their total number. */
export async function readDrifted(
  db: AnyQuery,
  deploymentKey: number,
  { size, offset }: { size: number; offset: number },
): Promise<{ instances: DriftedInstance[]; total: number }> {
  const { rows } = await sql<{ instances: DriftedInstance[]; total: number }>`
    with drifted as (
      select id, node_id, index, state, system_properties from node_instances
      where deployment_key = ${deploymentKey} and has_configuration_drift
    ), page as (select * from drifted order by node_id, index, id limit ${size} offset ${offset})
    select (select count(*) from drifted) as total, (select coalesce(json_agg(json_build_object('id', p.id, 'node_id', p.node_id,
        'index', p.index, 'state', p.state, 'checks', jsonb_build_object(
          'configuration_drift', p.system_properties -> 'configuration_drift',
          'source_relationships_configuration_drift', p.system_properties -> 'source_relationships_configuration_drift',
          'target_relationships_configuration_drift', p.system_properties -> 'target_relationships_configuration_drift'))
        order by p.node_id, p.index, p.id), '[]') from page p) as instances`.execute(db);
  return rows[0]!;
}

export async function hasDriftChanges(db: AnyQuery): Promise<boolean> {
  const { rows } = await sql`select from drift_changes limit 1`.execute(db);
  return rows.length > 0;
}

/** Deletes the oldest changes of drift that no other replica holds, and returns them in their order, with their deployments. */
export async function takeDriftChanges(tx: AnyTx, limit: number): Promise<DriftChange[]> {
  const { rows } = await sql<DriftChange>`
    with taken as (delete from drift_changes where id = any(array(
        select id from drift_changes order by id limit ${limit} for update skip locked)) returning *),
      counted as (select deployment_key, count(*)::int as drifted from node_instances
        where deployment_key in (select deployment_key from taken) and has_configuration_drift group by deployment_key)
    select t.tenant, d.id as deployment_id, d.blueprint_id, t.instance_id, t.is_drifted, t.changed_at,
      coalesce(c.drifted, 0) as drifted_now
    from taken t left join deployments d on d.key = t.deployment_key left join counted c on c.deployment_key = t.deployment_key
    order by t.id`.execute(tx);
  return rows;
}

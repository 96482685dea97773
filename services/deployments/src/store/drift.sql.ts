import type { JsonObject } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';

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

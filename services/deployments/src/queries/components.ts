import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';

const COMPONENT = 'cloudify.nodes.Component';

/**
 * Returns the ids of the existing deployments that component node instances of this deployment have created or use on this manager
 * (runtime property `deployment.id`), in order. A component with a `client` is on another manager, or in another tenant.
 */
export async function readComponents(db: AnyQuery, tenant: string, deploymentId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct t.id from deployments d
      join deployment_plans p on p.deployment_key = d.key and ${COMPONENT} = any(p.node_types)
      join nodes n on n.deployment_key = d.key
      join documents c on c.digest = n.definition and (c.body -> 'type_hierarchy')::jsonb ? ${COMPONENT}
      join node_instances i on i.deployment_key = d.key and i.node_id = n.id
      join deployments t on t.tenant = d.tenant and t.id = i.runtime_properties -> 'deployment' ->> 'id' and t.key <> d.key
    where d.tenant = ${tenant} and d.id = ${deploymentId}
      and coalesce(nullif((n.properties -> 'client')::jsonb, 'null'), '{}') = '{}'
    order by t.id limit 1000`.execute(db);
  return rows.map((row) => row.id);
}

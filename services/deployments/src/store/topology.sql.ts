import type { Principal } from '@baton/contracts';
import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';
import { deploymentScope } from './deployments.sql';

export interface TopologyHead {
  key: number;
  id: string;
  /**
   * Changes with every change of nodes or node instances: adding or removing one raises the revision of the deployment, and every
   * other write of an instance raises its version.
   */
  version: string;
}

/** Returns the deployment if the caller may see it; a deployment of the own tenant comes before a global one. */
export async function readTopologyHead(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<TopologyHead | null> {
  const { rows } = await sql<TopologyHead>`
    select d.key, d.id, concat_ws('.', d.key, d.revision, i.count, i.versions) as version
    from (select d.key, d.id, d.revision from deployments d where d.id = ${id} and ${deploymentScope(principal)}
      order by d.tenant = ${principal.tenant} desc limit 1) d
    cross join lateral (select count(*) as count, coalesce(sum(ni.version), 0) as versions
      from node_instances ni where ni.deployment_key = d.key) i`.execute(db);
  return rows[0] ?? null;
}

export interface TopologyRow {
  id: string;
  type: string;
  host_id: string | null;
  /** Hex digest of its NodeDefinition. */
  definition: string;
  total: number;
  by_state: Record<string, number>;
  has_drift: boolean;
}

export interface Topology {
  nodes: TopologyRow[];
  /** Scaling groups by name. */
  groups: Record<string, { members?: unknown }>;
}

/** Returns the nodes in the order of the plan with counts of their instances, and the scaling groups. */
export async function readTopology(db: AnyQuery, key: number): Promise<Topology> {
  const { rows } = await sql<Topology>`
    with states as (
      select node_id, state, count(*)::int as count, bool_or(has_configuration_drift) as has_drift
      from node_instances where deployment_key = ${key} group by node_id, state
    ), counted as (
      select node_id, sum(count)::int as total, json_object_agg(state, count order by state) as by_state,
        bool_or(has_drift) as has_drift
      from states group by node_id
    )
    select (select coalesce(json_agg(json_build_object('id', n.id, 'type', n.type, 'host_id', n.host_id,
          'definition', encode(n.definition, 'hex'), 'total', coalesce(c.total, 0), 'by_state', coalesce(c.by_state, '{}'),
          'has_drift', coalesce(c.has_drift, false)) order by n.position, n.id), '[]')
        from nodes n left join counted c on c.node_id = n.id where n.deployment_key = ${key}) as nodes,
      coalesce((select p.scaling_groups from deployment_plans p where p.deployment_key = ${key}), '{}') as groups`.execute(
    db,
  );
  return rows[0]!;
}

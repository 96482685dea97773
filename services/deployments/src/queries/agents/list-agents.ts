import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { type AnyQuery, isPrivate, selectFields, selectPage } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { instanceScope } from '../list-node-instances';

/** A caller sees an agent if he sees the node instance that installed it. */
const FROM = sql`agents a join node_instances ni on ni.id = a.node_instance_id and ni.tenant = a.tenant`;
const DEPLOYMENT = sql`(select d.id from deployments d where d.key = ni.deployment_key)`;

const ALIKE: Record<string, RawBuilder<unknown>> = { deployment_id: DEPLOYMENT, node_id: sql`ni.node_id` };

const item: Record<string, RawBuilder<unknown>> = {
  id: sql`a.node_instance_id`,
  // Equal to `id` when no other instance hosts it (spec v3.1 part 1, Agent).
  host_id: sql`coalesce(ni.host_id, a.node_instance_id)`,
  ip: sql`a.ip`,
  install_method: sql`a.install_method`,
  system: sql`a.system`,
  version: sql`a.version`,
  node: sql`ni.node_id`,
  deployment: DEPLOYMENT,
  state: sql`a.state`,
  tenant_name: sql`a.tenant`,
};
const rest: Record<string, RawBuilder<unknown>> = {
  name: sql`a.name`,
  node_instance_id: sql`a.node_instance_id`,
  created_at: sql`a.created_at`,
  created_by: sql`a.created_by`,
  updated_at: sql`a.updated_at`,
  visibility: sql`ni.visibility`,
  private_resource: isPrivate('ni'),
  resource_availability: sql`ni.visibility`,
  rabbitmq_username: sql`null::text`,
  rabbitmq_password: sql`null::text`,
  rabbitmq_exchange: sql`a.rabbitmq_exchange`,
};

export function listAgents(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<Record<string, unknown>>> {
  // Without `_include` an item has the short form.
  const include = list.include ?? Object.keys(item);
  return selectPage<Record<string, unknown>>({
    db,
    from: FROM,
    columns: { ...item, ...rest },
    list: { ...list, include },
    where: [instanceScope(principal, list.allTenants)],
    tieBreak: sql`a.created_at, a.tenant, a.name`,
    search: sql`a.name`,
    sorts: (field) => ALIKE[field],
    filters: {
      ...ALIKE,
      node_ids: sql`ni.node_id`,
      node_instance_ids: sql`a.node_instance_id`,
      install_methods: sql`a.install_method`,
    },
  });
}

/** Returns an agent that the caller may see; null when there is none. */
export async function findAgent(
  db: AnyQuery,
  principal: Principal,
  name: string,
): Promise<Record<string, unknown> | null> {
  const fields = selectFields({ ...item, ...rest });
  const { rows } = await sql<Record<string, unknown>>`
    select ${fields} from ${FROM} where a.name = ${name} and ${instanceScope(principal)}
    order by a.tenant = ${principal.tenant} desc limit 1`.execute(db);
  return rows[0] ?? null;
}

import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { type AnyQuery, isPrivate, selectFields, selectPage } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { findGroup, groupScope } from '../store/deployment-groups.sql';
import { deploymentScope } from '../store/deployments.sql';

type Item = Record<string, unknown>;

const labels = sql`(
  select coalesce(json_agg(json_build_object('key', l.key, 'value', l.value,
    'created_at', to_char(date_trunc('milliseconds', l.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'creator_id', l.creator_id, 'created_by', l.created_by) order by l.key, l.value), '[]')
  from deployment_group_labels l where l.group_key = g.key)`;

/** Response fields over `deployment_groups g`, without members that the caller does not see. */
function columns(principal: Principal, withData: boolean): Record<string, RawBuilder<unknown>> {
  const ids = sql`(select coalesce(json_agg(d.id order by m.seq), '[]') from deployment_group_members m
    join deployments d on d.key = m.deployment_key where m.group_key = g.key and ${deploymentScope(principal, true)})`;
  return {
    id: sql`g.id`,
    description: sql`g.description`,
    default_blueprint_id: sql`g.default_blueprint_id`,
    default_inputs: sql`g.default_inputs`,
    creation_counter: sql`g.creation_counter`,
    created_at: sql`g.created_at`,
    created_by: sql`g.created_by`,
    tenant_name: sql`g.tenant`,
    visibility: sql`g.visibility`,
    private_resource: isPrivate('g'),
    resource_availability: sql`g.visibility`,
    deployment_ids: withData ? ids : sql`null::json`,
    labels: withData ? labels : sql`null::json`,
  };
}

/** Returns one page; members and labels only `withData`. */
export function listDeploymentGroups(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
  withData: boolean,
): Promise<ListPage<Item>> {
  return selectPage<Item>({
    db,
    from: sql`deployment_groups g`,
    columns: columns(principal, withData),
    list,
    where: [groupScope(principal, list.allTenants)],
    tieBreak: sql`g.created_at, g.key`,
  });
}

/** Returns a group; a group of the own tenant comes before a global one. @throws AppError not_found_error */
export async function readDeploymentGroup(db: AnyQuery, principal: Principal, id: string): Promise<Item> {
  const fields = selectFields(columns(principal, true));
  const { rows } = await sql<Item>`
    select ${fields} from deployment_groups g where g.id = ${id} and ${groupScope(principal)}
    order by g.tenant = ${principal.tenant} desc limit 1`.execute(db);
  if (!rows[0]) throw notFound('DeploymentGroup', id);
  return rows[0];
}

/** Returns the condition of membership in a group that the caller sees; none when no group is named. */
export async function membersOf(
  db: AnyQuery,
  principal: Principal,
  id: string | undefined,
): Promise<RawBuilder<SqlBool>[]> {
  if (id === undefined) return [];
  const group = await findGroup(db, principal, id);
  if (!group) return [sql<SqlBool>`false`];
  return [
    sql<SqlBool>`d.key in (select m.deployment_key from deployment_group_members m where m.group_key = ${group.key})`,
  ];
}

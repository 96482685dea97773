import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { isUuid } from '@baton/kernel';
import { type AnyQuery, isPrivate, selectFields, selectPage } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { deploymentScope } from '../store/deployments.sql';
import { inDeployments } from './list-nodes';

/** Response fields over `deployment_modifications m join deployments d`. */
const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`m.id`,
  created_at: sql`m.created_at`,
  created_by: sql`m.created_by`,
  tenant_name: sql`d.tenant`,
  visibility: sql`d.visibility`,
  private_resource: isPrivate('d'),
  resource_availability: sql`d.visibility`,
  deployment_id: sql`d.id`,
  context: sql`m.context`,
  modified_nodes: sql`m.modified_nodes`,
  status: sql`m.status`,
  ended_at: sql`m.ended_at`,
  node_instances: sql`json_build_object('added_and_related', m.added_and_related, 'removed_and_related', m.removed_and_related,
    'before_modification', m.before_modification, 'before_rollback', m.before_rollback)`,
};
const FROM = sql`deployment_modifications m join deployments d on d.key = m.deployment_key`;

export function listModifications(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<Record<string, unknown>>> {
  return selectPage<Record<string, unknown>>({
    db,
    from: FROM,
    columns,
    list,
    where: [deploymentScope(principal, list.allTenants)],
    tieBreak: sql`m.created_at, m.id`,
    search: sql`m.id`,
    filters: { deployment_id: inDeployments(sql`m.deployment_key`) },
  });
}

/** Returns a modification that the caller may see, with the deployment it belongs to; null when there is none. */
export async function readModification(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<Record<string, unknown> | null> {
  if (!isUuid(id)) return null;
  const fields = selectFields(columns);
  const { rows } = await sql<Record<string, unknown>>`
    select ${fields} from ${FROM} where m.id = ${id} and ${deploymentScope(principal)}`.execute(db);
  return rows[0] ?? null;
}

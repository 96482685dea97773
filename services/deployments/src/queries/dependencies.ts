import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import {
  type AnyQuery,
  type AnyTx,
  isPrivate,
  selectFields,
  selectPage,
  visibilityScope,
} from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';

type Item = Record<string, unknown>;

const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`i.id`,
  created_at: sql`i.created_at`,
  created_by: sql`i.created_by`,
  tenant_name: sql`i.tenant`,
  visibility: sql`i.visibility`,
  private_resource: isPrivate('i'),
  resource_availability: sql`i.visibility`,
  dependency_creator: sql`i.dependency_creator`,
  source_deployment_id: sql`(select d.id from deployments d where d.key = i.source_key)`,
  target_deployment_id: sql`(select d.id from deployments d where d.key = i.target_key)`,
  target_deployment_func: sql`i.target_deployment_func`,
  external_source: sql`i.external_source`,
  external_target: sql`i.external_target`,
};

export function listDependencies(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<Item>> {
  const scope = visibilityScope(principal, 'i', list.allTenants);
  return selectPage<Item>({
    db,
    from: sql`inter_deployment_dependencies i`,
    columns,
    list,
    where: [scope],
    tieBreak: sql`i.created_at, i.id`,
    search: sql`i.id`,
  });
}

/** Returns a dependency by id without a check of rights, for callers that have just written it or are about to remove it. */
export async function readDependency(db: AnyQuery | AnyTx, id: string): Promise<Item | undefined> {
  const fields = selectFields(columns);
  const { rows } = await sql<Item>`
    select ${fields} from inter_deployment_dependencies i where i.id = ${id}`.execute(db);
  return rows[0];
}

import type { Principal } from '@baton/contracts';
import { interDeploymentDependenciesRoutes } from '@baton/contracts/http/inter-deployment-dependencies';
import { answer, type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { selectPage, visibilityScope } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import {
  createDependencies,
  createDependency,
  type DependencyBody,
  deleteDependency,
} from '../commands/dependencies';
import type { ServiceDeps } from '../deps';

const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`i.id`,
  created_at: sql`i.created_at`,
  created_by: sql`i.created_by`,
  tenant_name: sql`i.tenant`,
  visibility: sql`i.visibility`,
  private_resource: sql`i.visibility = 'private'`,
  resource_availability: sql`i.visibility`,
  dependency_creator: sql`i.dependency_creator`,
  source_deployment_id: sql`(select d.id from deployments d where d.key = i.source_key)`,
  target_deployment_id: sql`(select d.id from deployments d where d.key = i.target_key)`,
  target_deployment_func: sql`i.target_deployment_func`,
  external_source: sql`i.external_source`,
  external_target: sql`i.external_target`,
};

type BulkMember = Omit<DependencyBody, 'source_deployment'> & { target_deployment_id?: string | null };

/** Several of one deployment; `replacing`: instead of all it has. */
async function bulk(
  deps: ServiceDeps,
  principal: Principal,
  source: string,
  members: readonly BulkMember[],
  replacing?: string,
) {
  const bodies = members.map((member) => ({
    ...member,
    source_deployment: source,
    target_deployment: member.target_deployment ?? member.target_deployment_id,
  }));
  const ids = await createDependencies(deps, principal, bodies, replacing);
  return {
    items: ids.map((id) => ({ id })),
    metadata: { pagination: { total: ids.length, offset: 0, size: 1000 }, filtered: null },
  };
}

/** Inter-deployment dependencies (spec v3.1 part 1, reference/rest-api.md 5.4). */
export function dependenciesHttp(deps: ServiceDeps): BoundRoute[] {
  const read = async (id: string) => {
    const fields = Object.entries(columns).map(([field, column]) => sql`${column} as ${sql.id(field)}`);
    const { rows } = await sql<Record<string, unknown>>`
      select ${sql.join(fields)} from inter_deployment_dependencies i where i.id = ${id}`.execute(
      deps.db.query,
    );
    return rows[0];
  };
  return bindRoutes(interDeploymentDependenciesRoutes, {
    listInterDeploymentDependencies: async ({ principal, list }) => {
      const page = await selectPage<Record<string, unknown>>({
        db: deps.db.query,
        from: sql`inter_deployment_dependencies i`,
        columns,
        list,
        where: [
          visibilityScope(principal, {
            tenantColumn: sql`i.tenant`,
            visibilityColumn: sql`i.visibility`,
            creatorColumn: sql`i.created_by`,
            allTenants: list.allTenants,
          }),
        ],
        tieBreak: sql`i.created_at, i.id`,
        search: sql`i.id`,
      });
      return listEnvelope(page, list);
    },
    createInterDeploymentDependency: async ({ principal, body }) =>
      read(await createDependency(deps, principal, body)),
    deleteInterDeploymentDependency: async ({ principal, body, wire }) => {
      let removed: Record<string, unknown> | undefined;
      await deleteDependency(deps, principal, body, async (id) => {
        removed = await read(id);
      });
      // The original's latest line answers nothing; the spec the dependency.
      return wire === 'cloudify' ? answer({ status: 204 }) : removed;
    },
    createInterDeploymentDependencies: ({ principal, body }) =>
      bulk(deps, principal, body.source_deployment_id, body.inter_deployment_dependencies),
    replaceInterDeploymentDependencies: ({ principal, params, body }) =>
      bulk(deps, principal, params.id!, body.inter_deployment_dependencies, params.id!),
  });
}

import type { Principal } from '@baton/contracts';
import type { Json } from '@baton/kernel';
import { type AnyQuery, type AnyTx, visibilityScope } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { Dependent } from '../domain/dependents';
import { isLive } from './node-instances.sql';

/** A dependency to be inserted; JSON members as values. */
export interface NewDependency {
  id: string;
  dependency_creator: string;
  source_key: number | null;
  target_key: number | null;
  target_deployment_func: unknown;
  external_source: unknown;
  external_target: unknown;
  created_at: string | null;
}

/** Inserts dependencies of one owner. */
export async function insertDependencies(
  tx: AnyTx,
  owner: { tenant: string; createdBy: string; visibility: string },
  dependencies: readonly NewDependency[],
): Promise<void> {
  if (dependencies.length === 0) return;
  await sql`
    insert into inter_deployment_dependencies (id, tenant, dependency_creator, source_key, target_key, target_deployment_func,
      external_source, external_target, visibility, created_by, created_at)
    select x.id, ${owner.tenant}, x.dependency_creator, x.source_key, x.target_key, nullif(x.target_deployment_func::text, 'null')::json,
      nullif(x.external_source::text, 'null')::json, nullif(x.external_target::text, 'null')::json, ${owner.visibility}, ${owner.createdBy}, coalesce(x.created_at, app_now())
    from json_to_recordset(${JSON.stringify(dependencies)}::json) as x(id uuid, dependency_creator text, source_key bigint, target_key bigint,
      target_deployment_func json, external_source json, external_target json, created_at timestamptz)`.execute(
    tx,
  );
}

export interface ComputedDependency {
  id: string;
  target_key: number | null;
  /** Usually {function, context}, but clients may store any value. */
  target_deployment_func: Json;
  created_by: string;
}

/** Returns the dependencies of a deployment on this manager whose target is the value of a function. */
export async function computedDependencies(
  db: AnyQuery,
  tenant: string,
  deploymentId: string,
): Promise<ComputedDependency[]> {
  const { rows } = await sql<ComputedDependency>`
    select i.id, i.target_key, i.target_deployment_func, i.created_by
    from deployments d join inter_deployment_dependencies i on i.source_key = d.key
    where d.tenant = ${tenant} and d.id = ${deploymentId} and i.target_deployment_func is not null and i.external_target is null
    order by i.created_at, i.id limit 1000`.execute(db);
  return rows;
}

export async function setDependencyTarget(tx: AnyTx, id: string, targetKey: number): Promise<void> {
  await sql`update inter_deployment_dependencies set target_key = ${targetKey} where id = ${id}`.execute(tx);
}

/** Deletes all dependencies of a source; returns their targets. */
export async function deleteDependenciesOf(tx: AnyTx, sourceKey: number): Promise<(number | null)[]> {
  const { rows } = await sql<{ target_key: number | null }>`
    delete from inter_deployment_dependencies where source_key = ${sourceKey} returning target_key`.execute(
    tx,
  );
  return rows.map((row) => row.target_key);
}

/**
 * Locks the dependency that a request identifies; null when the caller sees none. Its target may still be a function, or be
 * deleted. `isAlone`: no other one matches equally well.
 */
export async function lockIdentified(
  tx: AnyTx,
  principal: Principal,
  { creator, source, target }: { creator: string; source: string | null; target: string | null },
): Promise<{ id: string; isAlone: boolean } | null> {
  const { rows } = await sql<{ id: string; isExact: boolean }>`
    select i.id, t.id is not distinct from ${target}::text as "isExact" from inter_deployment_dependencies i
      left join deployments s on s.key = i.source_key left join deployments t on t.key = i.target_key
    where i.tenant = ${principal.tenant} and i.dependency_creator = ${creator} and ${visibilityScope(principal, 'i')}
      and (${source}::text is null or s.id = ${source})
      and (${target}::text is null or t.id = ${target} or i.target_key is null)
    order by "isExact" desc, i.created_at, i.id limit 2 for update of i`.execute(tx);
  const [first, second] = rows;
  return first ? { id: first.id, isAlone: first.isExact !== second?.isExact } : null;
}

/** Deletes a dependency; returns its target. */
export async function deleteDependencyRow(tx: AnyTx, id: string): Promise<number | null> {
  const { rows } = await sql<{ target_key: number | null }>`
    delete from inter_deployment_dependencies where id = ${id} returning target_key`.execute(tx);
  return rows[0]?.target_key ?? null;
}

/** Whether `target` already depends, directly or not, on `source`: the reverse edge would be a cycle. */
export async function dependsOn(tx: AnyTx, target: number, source: number): Promise<boolean> {
  if (target === source) return true;
  const { rows } = await sql`
    with recursive reached(key) as (
      select target_key from inter_deployment_dependencies where source_key = ${target} and target_key is not null
      union select i.target_key from inter_deployment_dependencies i join reached r on i.source_key = r.key where i.target_key is not null
    )
    select 1 as found from reached where key = ${source} limit 1`.execute(tx);
  return rows.length > 0;
}

const LEAVING = (alias: 's' | 'c'): RawBuilder<unknown> =>
  sql`coalesce(${sql.ref(`${alias}.latest_status`)} in ('pending', 'queued', 'started')
    and ${sql.ref(`${alias}.latest_workflow_id`)} in ('stop', 'uninstall', 'update', 'csys_new_deployment_update', 'heal'), false)`;

/** Whether the first deployment has created the second one as a component. */
const isComponentOf = (owner: RawBuilder<unknown>, key: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`exists (select 1 from inter_deployment_dependencies o
    where o.source_key = ${owner} and o.target_key = ${key} and o.dependency_creator like 'component.%')`;

/**
 * Returns everything that needs the deployment: dependencies on it and its csys-obj-parent children. `ignoring`: keys of
 * deployments to leave out, together with their dependencies.
 */
export async function readDependents(
  db: AnyQuery | AnyTx,
  key: number,
  ignoring: readonly number[] = [],
): Promise<Dependent[]> {
  const left: RawBuilder<unknown> = sql`${[...ignoring]}::bigint[]`;
  const { rows } = await sql<Dependent>`
    select coalesce(s.id, i.external_source ->> 'deployment', '') as "deploymentId", i.dependency_creator as creator,
      coalesce(s.installation_status, 'active') as installation, i.source_key is null as "isExternal", ${LEAVING('s')} as "isLeaving",
      false as "isOwnComponent"
    from inter_deployment_dependencies i left join deployments s on s.key = i.source_key
    where i.target_key = ${key} and (i.source_key is null or i.source_key <> ${key} and not i.source_key = any(${left}))
      and i.external_target is null
    union all
    select c.id, 'parent', c.installation_status, false, ${LEAVING('c')}, ${isComponentOf(sql`p.parent_key`, sql`c.key`)}
    from deployment_parents p join deployments c on c.key = p.child_key
    where p.parent_key = ${key} and not p.child_key = any(${left})
    order by 2, 1 limit 100`.execute(db);
  return rows;
}

/** Returns the deployments below `key` by csys-obj-parent, at any depth. */
export async function descendantKeys(
  db: AnyQuery | AnyTx,
  key: number,
): Promise<{ key: number; id: string }[]> {
  const { rows } = await sql<{ key: number; id: string }>`
    with recursive below(key, depth) as (
      select child_key, 1 from deployment_parents where parent_key = ${key}
      union select p.child_key, b.depth + 1 from deployment_parents p join below b on p.parent_key = b.key where b.depth < 100
    )
    select d.key, d.id from deployments d join (select key, max(depth) as depth from below group by key) b on b.key = d.key
    order by b.depth desc, d.key`.execute(db);
  return rows;
}

/**
 * Returns ids of the nearest deployments below `key` by csys-obj-parent that have a live node instance. Each of them is responsible
 * for those below it. Components are left out: the node instances that created them are responsible for them.
 */
export async function installedBelow(db: AnyQuery | AnyTx, key: number): Promise<string[]> {
  const hasLive = sql`exists (select 1 from node_instances i
    where i.deployment_key = p.child_key and ${isLive('i')})`;
  const { rows } = await sql<{ id: string }>`
    with recursive below(key, is_live, depth) as (
      select p.child_key, ${hasLive}, 1 from deployment_parents p where p.parent_key = ${key}
        and not ${isComponentOf(sql`p.parent_key`, sql`p.child_key`)}
      union select p.child_key, ${hasLive}, b.depth + 1 from deployment_parents p join below b on p.parent_key = b.key
        where not b.is_live and b.depth < 100
    )
    select distinct d.id from below b join deployments d on d.key = b.key where b.is_live order by d.id`.execute(
    db,
  );
  return rows.map((row) => row.id);
}

/** Returns the keys of the deployments that `key` depends on. */
export async function sharedTargets(tx: AnyTx, key: number): Promise<number[]> {
  const { rows } = await sql<{ key: number }>`
    select distinct target_key as key from inter_deployment_dependencies where source_key = ${key} and target_key is not null`.execute(
    tx,
  );
  return rows.map((row) => row.key);
}

/** Deletes the plan's dependencies of `sourceKey` on other deployments' capabilities; components and manual dependencies stay. */
export async function deleteCapabilityUses(tx: AnyTx, sourceKey: number): Promise<void> {
  await sql`delete from inter_deployment_dependencies where source_key = ${sourceKey} and dependency_creator like '%.get_capability'
    and dependency_creator not like 'component.%' and dependency_creator not like 'sharedresource.%'`.execute(
    tx,
  );
}

import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { type AnyQuery, isPrivate, selectFields, selectPage } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { updateProgress } from '../store/deployment-updates.sql';
import { deploymentScope } from '../store/deployments.sql';
import { inDeployments } from './list-nodes';

/** Response fields over `deployment_updates u join deployments d`. */
const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`u.id`,
  created_at: sql`u.created_at`,
  created_by: sql`u.created_by`,
  tenant_name: sql`d.tenant`,
  visibility: sql`d.visibility`,
  private_resource: isPrivate('d'),
  resource_availability: sql`d.visibility`,
  deployment_id: sql`d.id`,
  state: sql`u.state`,
  execution_id: sql`u.execution_id`,
  old_blueprint_id: sql`u.old_blueprint_id`,
  new_blueprint_id: sql`u.new_blueprint_id`,
  old_inputs: sql`u.old_inputs`,
  new_inputs: sql`u.new_inputs`,
  runtime_only_evaluation: sql`u.runtime_only_evaluation`,
  keep_old_deployment_dependencies: sql`false::boolean`,
  deployment_plan: sql`u.preparation -> 'plan'`,
  deployment_update_nodes: sql`u.deployment_update_nodes`,
  // The deployment as it will be after the update; known once the plan of the update is stored.
  deployment_update_deployment: sql`case when u.preparation is null then null else (
    select jsonb_object_agg(part.key, part.value) from jsonb_each((u.preparation -> 'plan')::jsonb) part
    where part.key in ('description', 'groups', 'outputs', 'capabilities', 'policy_types', 'policy_triggers', 'scaling_groups', 'workflows'))
    || jsonb_build_object('id', d.id, 'blueprint_id', u.new_blueprint_id, 'inputs', u.new_inputs) end`,
  deployment_update_node_instances: sql`u.deployment_update_node_instances`,
  modified_entity_ids: sql`u.modified_entity_ids`,
  central_plugins_to_install: sql`null::json`,
  central_plugins_to_uninstall: sql`null::json`,
  steps: sql`u.steps`,
  recursive_dependencies: sql`null::json`,
  schedules_to_create: sql`null::json`,
  schedules_to_delete: sql`null::json`,
  labels_to_create: sql`u.labels_to_create`,
};
const FROM = sql`deployment_updates u join deployments d on d.key = u.deployment_key`;

export function listUpdates(
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
    tieBreak: sql`u.created_at, u.id`,
    search: sql`u.id`,
    filters: { deployment_id: inDeployments(sql`u.deployment_key`) },
  });
}

/** Returns an update that the caller may see, with the values that it changes; null when there is none. */
export async function findUpdate(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<Record<string, unknown> | null> {
  const fields = selectFields({ ...columns, changes: sql`u.changes` });
  const { rows } = await sql<Record<string, unknown>>`
    select ${fields} from ${FROM} where u.id = ${id} and ${deploymentScope(principal)}`.execute(db);
  return rows[0] ?? null;
}

/** Whether the update has no steps yet and has not failed. */
export const isUpdating = async (db: AnyQuery, id: string): Promise<boolean> =>
  (await updateProgress(db, id))?.state === 'updating';

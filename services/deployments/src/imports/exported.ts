import { IMPORTED_FROM_LABEL, QUARANTINE_LABEL } from '@baton/contracts';
import { type ExportWanted, type ImportContext, iso, readItems } from '@baton/import-part';

/** Rows of one piece; those with documents of users are few. */
const SMALL_ROWS = 500;
const LARGE_ROWS = 50;

/** The deployments `d` that are wanted: $1 tenant, $2 ids, of which none means all. */
const WANTED = `d.tenant = $1 and ($2::text[] = '{}' or d.id = any($2::text[]))`;
const created = (alias: string): string =>
  `'visibility', ${alias}.visibility, 'created_by', ${alias}.created_by, 'created_at', ${iso(`${alias}.created_at`)}`;
const labelsOf = (
  table: string,
  owner: string,
): string => `(select coalesce(json_agg(json_build_object('key', l.key, 'value', l.value,
    'created_at', ${iso('l.created_at')}, 'created_by', l.created_by) order by l.key, l.value), '[]')
  from ${table} l where l.${owner} and l.key not in ('csys-consumer-id', '${IMPORTED_FROM_LABEL}', '${QUARANTINE_LABEL}'))`;

interface Exported {
  type: string;
  size: number;
  query: string;
  /** Only when a whole tenant is wanted. */
  isOfTenant?: true;
}

/** In the order in which they are taken. */
const TYPES: readonly Exported[] = [
  {
    type: 'sites',
    size: SMALL_ROWS,
    query: `select json_build_object('name', s.name, ${created('s')},
        'location', case when s.latitude is not null then s.latitude::text || ', ' || s.longitude::text end) as item
      from sites s where s.tenant = $1
        and ($2::text[] = '{}' or s.key in (select d.site_key from deployments d where ${WANTED})) order by s.key`,
  },
  {
    type: 'deployments',
    size: LARGE_ROWS,
    query: `select json_build_object('id', d.id, ${created('d')}, 'blueprint_id', d.blueprint_id, 'display_name', d.display_name,
        'description', d.description, 'site_name', (select s.name from sites s where s.key = d.site_key),
        'runtime_only_evaluation', d.runtime_only_evaluation, 'updated_at', ${iso('d.updated_at')},
        'installation_status', d.installation_status, 'deployment_status', d.deployment_status,
        'sub_services_status', d.sub_services_status, 'sub_environments_status', d.sub_environments_status,
        'sub_services_count', d.sub_services_count, 'sub_environments_count', d.sub_environments_count,
        'inputs', p.inputs, 'outputs', p.outputs, 'capabilities', p.capabilities, 'scaling_groups', p.scaling_groups,
        'resource_tags', p.resource_tags, 'workflows', m.body->'workflows', 'groups', m.body->'groups',
        'policy_types', m.body->'policy_types', 'policy_triggers', m.body->'policy_triggers',
        'labels', ${labelsOf('deployment_labels', 'deployment_key = d.key')}) as item
      from deployments d join deployment_plans p on p.deployment_key = d.key join documents m on m.digest = p.model
      where ${WANTED} order by d.key`,
  },
  {
    type: 'deployment_groups',
    size: LARGE_ROWS,
    isOfTenant: true,
    query: `select json_build_object('id', g.id, ${created('g')}, 'description', g.description,
        'default_inputs', g.default_inputs, 'default_blueprint_id', g.default_blueprint_id, 'creation_counter', g.creation_counter,
        'deployment_ids', (select coalesce(json_agg(d.id order by m.seq), '[]') from deployment_group_members m
          join deployments d on d.key = m.deployment_key where m.group_key = g.key and d.tenant = $1 and $2::text[] is not null),
        'labels', ${labelsOf('deployment_group_labels', 'group_key = g.key')}) as item
      from deployment_groups g where g.tenant = $1 order by g.key`,
  },
  {
    type: 'nodes',
    size: LARGE_ROWS,
    query: `select json_build_object('deployment_id', d.id, 'id', n.id, 'visibility', d.visibility, 'created_by', d.created_by,
        'host_id', n.host_id, 'type', n.type, 'type_hierarchy', x.body->'type_hierarchy', 'operations', x.body->'operations',
        'plugins', x.body->'plugins', 'plugins_to_install', x.body->'plugins_to_install',
        'relationships', x.body->'relationships', 'properties', n.properties, 'number_of_instances', n.number_of_instances,
        'planned_number_of_instances', n.planned_number_of_instances,
        'deploy_number_of_instances', n.deploy_number_of_instances, 'min_number_of_instances', n.min_number_of_instances,
        'max_number_of_instances', n.max_number_of_instances) as item
      from deployments d join nodes n on n.deployment_key = d.key join documents x on x.digest = n.definition
      where ${WANTED} order by d.key, n.position, n.id`,
  },
  {
    type: 'node_instances',
    size: LARGE_ROWS,
    query: `select json_build_object('deployment_id', d.id, 'node_id', i.node_id, 'id', i.id, 'visibility', d.visibility,
        'created_by', d.created_by, 'host_id', i.host_id, 'index', i.index, 'state', i.state, 'version', i.version,
        'relationships', i.relationships, 'runtime_properties', i.runtime_properties, 'system_properties', i.system_properties,
        'scaling_groups', i.scaling_groups, 'has_configuration_drift', i.has_configuration_drift,
        'is_status_check_ok', i.is_status_check_ok) as item
      from deployments d join node_instances i on i.deployment_key = d.key where ${WANTED} order by i.seq`,
  },
  {
    type: 'agents',
    size: SMALL_ROWS,
    query: `select json_build_object('id', a.name, 'visibility', d.visibility, 'created_by', a.created_by,
        'created_at', ${iso('a.created_at')}, 'deployment_id', d.id, 'node_instance_id', a.node_instance_id, 'state', a.state,
        'ip', a.ip, 'install_method', a.install_method, 'system', a.system, 'version', a.version,
        'updated_at', ${iso('a.updated_at')}) as item
      from agents a join node_instances i on i.tenant = a.tenant and i.id = a.node_instance_id
        join deployments d on d.key = i.deployment_key where ${WANTED} order by a.name`,
  },
  {
    type: 'inter_deployment_dependencies',
    size: SMALL_ROWS,
    query: `select json_build_object('id', i.id, ${created('i')}, 'dependency_creator', i.dependency_creator,
        'source_deployment_id', d.id, 'target_deployment_id', t.id, 'target_deployment_func', i.target_deployment_func,
        'external_source', i.external_source, 'external_target', i.external_target) as item
      from inter_deployment_dependencies i left join deployments d on d.key = i.source_key
        left join deployments t on t.key = i.target_key and t.tenant = i.tenant
      where i.tenant = $1 and ($2::text[] = '{}' or d.id = any($2::text[])) order by i.created_at, i.id`,
  },
  {
    type: 'deployment_updates',
    size: LARGE_ROWS,
    query: `select json_build_object('id', u.id, 'visibility', d.visibility, 'created_by', u.created_by,
        'created_at', ${iso('u.created_at')}, 'deployment_id', d.id, 'execution_id', u.execution_id,
        'old_blueprint_id', u.old_blueprint_id, 'new_blueprint_id', nullif(u.new_blueprint_id, ''), 'state', u.state,
        'runtime_only_evaluation', u.runtime_only_evaluation, 'old_inputs', u.old_inputs, 'new_inputs', u.new_inputs,
        'steps', u.steps, 'deployment_update_nodes', u.deployment_update_nodes,
        'deployment_update_node_instances', u.deployment_update_node_instances, 'modified_entity_ids', u.modified_entity_ids) as item
      from deployment_updates u join deployments d on d.key = u.deployment_key where ${WANTED} order by u.created_at, u.id`,
  },
  {
    type: 'plugins_update',
    size: SMALL_ROWS,
    isOfTenant: true,
    query: `select json_build_object('id', u.id, ${created('u')}, 'state', u.state, 'blueprint_id', nullif(u.blueprint_id, ''),
        'temp_blueprint_id', nullif(u.temp_blueprint_id, ''), 'execution_id', u.execution_id, 'forced', u.forced, 'all_tenants', u.all_tenants,
        'deployments_to_update', array(select e->>'id' from json_array_elements(u.deployments) e where e->>'tenant' = $1)) as item
      from plugins_updates u where u.tenant = $1 and $2::text[] is not null order by u.created_at, u.id`,
  },
  {
    type: 'deployments_filters',
    size: SMALL_ROWS,
    isOfTenant: true,
    query: `select json_build_object('id', f.id, ${created('f')}, 'value', f.value) as item from deployment_filters f
      where f.tenant = $1 and $2::text[] is not null and not f.is_system_filter order by f.id`,
  },
  {
    type: 'deployment_modifications',
    size: LARGE_ROWS,
    query: `select json_build_object('id', m.id, 'visibility', d.visibility, 'created_by', m.created_by,
        'created_at', ${iso('m.created_at')}, 'deployment_id', d.id, 'status', m.status, 'ended_at', ${iso('m.ended_at')},
        'context', m.context, 'modified_nodes', m.modified_nodes, 'node_instances', json_build_object(
          'added_and_related', m.added_and_related, 'removed_and_related', m.removed_and_related,
          'before_modification', m.before_modification, 'before_rollback', m.before_rollback)) as item
      from deployment_modifications m join deployments d on d.key = m.deployment_key where ${WANTED}
      order by m.created_at, m.id`,
  },
];

/** Deployments that a bundle of one deployment holds: itself and those that its closure names. */
function wantedIds({ deploymentId, closure }: ExportWanted): string[] {
  const more = Array.isArray(closure.deployments) ? closure.deployments : [];
  if (deploymentId === '') return [];
  return [...new Set([deploymentId, ...more.filter((id) => typeof id === 'string')])];
}

/** Records of this service for a bundle. Plans that updates have prepared are left out: their updates are history. */
export async function* exportedRecords(client: ImportContext['client'], wanted: ExportWanted) {
  const ids = wantedIds(wanted);
  for (const { type, size, query, isOfTenant } of TYPES) {
    if (isOfTenant && ids.length > 0) continue;
    for await (const items of readItems(client, query, [wanted.tenant, ids], size)) yield { type, items };
  }
}

import { type ExportWanted, type ImportContext, iso, readItems } from '@baton/import-part';

const SMALL_ROWS = 500;
const LARGE_ROWS = 50;

/** The executions `e` that are wanted: $1 tenant, $2 ids of deployments, of which none means all. */
const WANTED = `e.tenant = $1 and ($2::text[] = '{}' or e.deployment_id = any($2::text[]))`;
const created = (alias: string): string =>
  `'visibility', ${alias}.visibility, 'created_by', ${alias}.created_by, 'created_at', ${iso(`${alias}.created_at`)}`;

const TYPES: readonly { type: string; size: number; query: string }[] = [
  {
    type: 'executions',
    size: LARGE_ROWS,
    query: `select json_build_object('id', e.id, ${created('e')}, 'deployment_id', e.deployment_id, 'blueprint_id', e.blueprint_id,
        'workflow_id', e.workflow_id, 'status', e.status, 'parameters', e.parameters, 'error', coalesce(e.error, ''),
        'is_system_workflow', e.is_system_workflow, 'is_dry_run', e.is_dry_run,
        'allow_custom_parameters', e.allow_custom_parameters, 'started_at', ${iso('e.started_at')},
        'ended_at', ${iso('e.ended_at')}, 'scheduled_for', ${iso('e.scheduled_for')}, 'resume', e.is_resumed,
        'total_operations', e.total_operations, 'finished_operations', e.finished_operations) as item
      from executions e where ${WANTED} order by e.created_at, e.id`,
  },
  {
    type: 'execution_groups',
    size: LARGE_ROWS,
    query: `select json_build_object('id', g.id, ${created('g')}, 'workflow_id', g.workflow_id,
        'deployment_group_id', g.deployment_group_id, 'concurrency', g.concurrency, 'success_group_id', g.success_group_id,
        'failure_group_id', g.failure_group_id, 'execution_ids', (select json_agg(e.id order by e.created_at, e.id)
          from executions e where e.tenant = g.tenant and e.execution_group_id = g.id and ${WANTED})) as item
      from execution_groups g where g.tenant = $1 and ($2::text[] = '{}' or exists (select 1 from executions e
        where e.execution_group_id = g.id and ${WANTED})) order by g.created_at, g.id`,
  },
  {
    type: 'events',
    size: SMALL_ROWS,
    query: `select json_build_object('type', case when v.is_log then 'cloudify_log' else 'cloudify_event' end,
        'execution_id', v.execution_id, 'execution_group_id', v.execution_group_id, 'timestamp', ${iso('v.created_at')},
        'reported_timestamp', ${iso('v.reported_at')}, 'message', v.message, 'event_type', v.event_type, 'operation', v.operation,
        'node_instance_id', v.node_instance_id, 'source_id', v.source_id, 'target_id', v.target_id,
        'error_causes', v.error_causes, 'logger', v.logger, 'level', v.level, 'agent_name', v.worker,
        'deployment_id', v.deployment_id, 'blueprint_id', v.blueprint_id, 'workflow_id', v.workflow_id) as item
      from events v where v.tenant = $1 and ($2::text[] = '{}' or v.deployment_id = any($2::text[]))
      order by v.created_at, v.storage_id`,
  },
  {
    type: 'tasks_graphs',
    size: LARGE_ROWS,
    query: `select json_build_object('id', g.id, ${`'visibility', e.visibility, 'created_by', e.created_by, 'created_at', ${iso('g.created_at')}`},
        'execution_id', e.id, 'name', g.name, 'operations', (select coalesce(json_agg(json_build_object('id', o.id, 'name', o.name,
            'type', o.type, 'state', o.state, 'dependencies', o.dependencies, 'parameters', o.parameters,
            'manager_name', o.manager_name, 'agent_name', o.agent_name, 'created_at', ${iso('o.created_at')}) order by o.position), '[]')
          from client_operations o where o.graph_id = g.id)) as item
      from client_graphs g join executions e on e.id = g.execution_id where ${WANTED} order by g.created_at, g.id`,
  },
  {
    type: 'execution_schedules',
    size: SMALL_ROWS,
    query: `select json_build_object('id', e.id, ${created('e')}, 'deployment_id', e.deployment_id,
        'latest_execution_id', e.latest_execution_id, 'workflow_id', e.workflow_id, 'parameters', e.parameters,
        'execution_arguments', e.execution_arguments, 'since', ${iso('e.since')}, 'until', ${iso('e.until')},
        'rule', e.rule, 'slip', e.slip_minutes, 'stop_on_fail', e.stop_on_fail,
        'enabled', coalesce(e.was_enabled, e.enabled)) as item
      from execution_schedules e where ${WANTED} order by e.created_at, e.key`,
  },
];

/**
 * Records of this service for a bundle. Graphs of this manager's own engine are left out: nobody can carry them on elsewhere.
 */
export async function* exportedRecords(client: ImportContext['client'], wanted: ExportWanted) {
  const more = Array.isArray(wanted.closure.deployments) ? wanted.closure.deployments : [];
  const ids =
    wanted.deploymentId === ''
      ? []
      : [...new Set([wanted.deploymentId, ...more.filter((id) => typeof id === 'string')])];
  for (const { type, size, query } of TYPES) {
    if (type === 'events' && !wanted.includeEvents) continue;
    for await (const items of readItems(client, query, [wanted.tenant, ids], size)) yield { type, items };
  }
}

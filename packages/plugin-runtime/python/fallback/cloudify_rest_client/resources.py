"""What the client offers: each method of each resource, as calls.py reads them."""

_FILTERS = {
    'create': 'PUT {0} : filter_id filter_rules visibility=tenant',
    'list': 'GET {0}s',
    'get': 'GET {0}',
    'delete': 'DELETE? {0}',
    'update': 'PATCH {0} : filter_id new_filter_rules>filter_rules new_visibility>visibility',
}


def _filters(kind):
    path = '/filters/%s' % kind
    return {name: line.replace('{0}s', path).replace('{0}', path + '/{filter_id}') for name, line in _FILTERS.items()}


def _labels(kind):
    return {'list_keys': 'GET /labels/%s' % kind, 'list_key_values': 'GET /labels/%s/{label_key}' % kind}


RESOURCES = {
    'agents': {
        'list': 'GET /agents',
        'get': 'GET /agents/{name}',
        'update': 'PATCH /agents/{name} : name state',
    },
    'blueprints': {
        'list': 'GET /blueprints',
        'get': 'GET /blueprints/{blueprint_id}',
        'delete': 'DELETE? /blueprints/{blueprint_id} : blueprint_id force',
        'update': 'PATCH /blueprints/{blueprint_id}',
        'set_global': 'PATCH /blueprints/{blueprint_id}/set-global',
        'set_visibility': 'PATCH /blueprints/{blueprint_id}/set-visibility : blueprint_id visibility',
    },
    'blueprints_filters': _filters('blueprints'),
    'blueprints_labels': _labels('blueprints'),
    'deployment_groups': {
        'list': 'GET /deployment-groups',
        'get': 'GET /deployment-groups/{group_id}',
        'put': 'PUT /deployment-groups/{group_id} : group_id visibility=tenant description blueprint_id default_inputs '
               'labels filter_id deployment_ids new_deployments deployments_from_group',
        'delete': 'DELETE? /deployment-groups/{group_id} : group_id delete_deployments force with_logs>delete_logs recursive',
    },
    'deployment_modifications': {
        'list': 'GET /deployment-modifications : deployment_id',
        'get': 'GET /deployment-modifications/{modification_id}',
        'start': 'POST /deployment-modifications : deployment_id nodes context',
        'finish': 'POST /deployment-modifications/{modification_id}/finish',
        'rollback': 'POST /deployment-modifications/{modification_id}/rollback',
    },
    'deployment_updates': {
        'list': 'GET /deployment-updates',
        'get': 'GET /deployment-updates/{update_id}',
        'update_with_existing_blueprint':
            'POST /deployment-updates/{deployment_id}/update/initiate : deployment_id blueprint_id inputs skip_install '
            'skip_uninstall skip_reinstall skip_drift_check skip_heal force_reinstall workflow_id force ignore_failure '
            'install_first reinstall_list preview update_plugins runtime_only_evaluation auto_correct_types '
            'reevaluate_active_statuses',
    },
    'deployments': {
        'list': 'GET /deployments',
        'get': 'GET /deployments/{deployment_id} : deployment_id _include all_sub_deployments include_workdir',
        'create': 'PUT /deployments/{deployment_id} : blueprint_id deployment_id inputs visibility=tenant '
                  'skip_plugins_validation site_name runtime_only_evaluation labels display_name async_create',
        'delete': 'DELETE? /deployments/{deployment_id} : deployment_id force delete_db_mode with_logs>delete_logs recursive',
        'update_labels': 'PATCH /deployments/{deployment_id} : deployment_id labels',
        'set_attributes': 'PATCH /deployments/{deployment_id}',
        'set_site': 'POST /deployments/{deployment_id}/set-site : deployment_id site_name detach_site',
        'set_visibility': 'PATCH /deployments/{deployment_id}/set-visibility : deployment_id visibility',
    },
    'deployments_filters': _filters('deployments'),
    'deployments_labels': _labels('deployments'),
    'evaluate': {
        'functions': 'POST /evaluate/functions : deployment_id context payload',
    },
    'events': {
        'list': 'GET /events : type message>message.text _range _include sort',
    },
    'execution_groups': {
        'list': 'GET /execution-groups',
        'get': 'GET /execution-groups/{execution_group_id}',
        'start': 'POST /execution-groups : deployment_group_id workflow_id force default_parameters parameters concurrency',
        'set_concurrency': 'PATCH /execution-groups/{execution_group_id} : execution_group_id concurrency',
        'set_target_group': 'PATCH /execution-groups/{execution_group_id} : execution_group_id '
                            'success_group>success_group_id failed_group>failure_group_id',
    },
    'execution_schedules': {
        'list': 'GET /execution-schedules',
        'get': 'GET /execution-schedules/{schedule_id} : schedule_id deployment_id',
        'create': 'PUT /execution-schedules/{schedule_id} : schedule_id deployment_id workflow_id execution_arguments '
                  'parameters since until recurrence count weekdays rrule slip stop_on_fail',
        'update': 'PATCH /execution-schedules/{schedule_id} : schedule_id deployment_id since until recurrence count '
                  'weekdays rrule slip stop_on_fail enabled workflow_id',
        'delete': 'DELETE? /execution-schedules/{schedule_id} : schedule_id deployment_id',
    },
    'executions': {
        'list': 'GET /executions : _include deployment_id include_system_workflows>_include_system_workflows',
        'get': 'GET /executions/{execution_id}',
        'start': 'POST /executions : deployment_id workflow_id parameters allow_custom_parameters force dry_run queue '
                 'schedule>scheduled_time wait_after_fail',
        'update': 'PATCH /executions/{execution_id} : execution_id status error',
    },
    'inter_deployment_dependencies': {
        'list': 'GET /deployments/inter-deployment-dependencies',
        'create': 'PUT /deployments/inter-deployment-dependencies : dependency_creator source_deployment target_deployment '
                  'external_source external_target target_deployment_func',
        'create_many': 'POST /deployments/inter-deployment-dependencies : source_deployment_id '
                       'inter_deployment_dependencies',
        'update_all': 'PUT /deployments/{source_deployment_id}/inter-deployment-dependencies : source_deployment_id '
                      'inter_deployment_dependencies',
        'delete': 'DELETE /deployments/inter-deployment-dependencies : dependency_creator source_deployment '
                  'target_deployment is_component_deletion external_source external_target',
    },
    'license': {'list': 'GET /license'},
    'maintenance_mode': {'status': 'GET /maintenance'},
    'manager': {
        'get_status': 'GET /status',
        'get_version': 'GET /version',
        'get_context': 'GET /provider/context : _include',
        'get_managers': 'GET /managers : hostname _include',
        'get_brokers': 'GET /brokers',
        'get_db_nodes': 'GET /db-nodes',
    },
    'node_instances': {
        'list': 'GET /node-instances : _include constraints',
        'get': 'GET /node-instances/{node_instance_id} : node_instance_id _include evaluate_functions>_evaluate_functions',
        'create_many': 'POST /node-instances : deployment_id node_instances',
        'delete': 'DELETE? /node-instances/{instance_id}',
    },
    'nodes': {
        'list': 'GET /nodes : _include filter_rules constraints deployment_id node_id>id sort is_descending '
                'evaluate_functions',
        'create_many': 'POST /nodes : deployment_id nodes',
        'update': 'PATCH /nodes/{deployment_id}/{node_id}',
        'delete': 'DELETE? /nodes/{deployment_id}/{node_id}',
    },
    'plugins': {
        'list': 'GET /plugins',
        'get': 'GET /plugins/{plugin_id}',
        'delete': 'DELETE /plugins/{plugin_id} : plugin_id force',
        'set_global': 'PATCH /plugins/{plugin_id}/set-global',
        'set_visibility': 'PATCH /plugins/{plugin_id}/set-visibility : plugin_id visibility',
    },
    'plugins_update': {
        'list': 'GET /plugins-updates',
        'get': 'GET /plugins-updates/{plugins_update_id}',
    },
    'secrets': {
        'list': 'GET /secrets',
        'get': 'GET /secrets/{key}',
        'create': 'PUT /secrets/{key} : key value update_if_exists is_hidden_value visibility=tenant schema provider_name '
                  'provider_options',
        'update': 'PATCH /secrets/{key} : key value visibility is_hidden_value provider_name provider_options',
        'delete': 'DELETE? /secrets/{key}',
        'set_global': 'PATCH /secrets/{key}/set-global',
        'set_visibility': 'PATCH /secrets/{key}/set-visibility : key visibility',
    },
    'secrets_providers': {
        'list': 'GET /secrets-providers',
        'get': 'GET /secrets-providers/{provider_name}',
    },
    'sites': {
        'list': 'GET /sites',
        'get': 'GET /sites/{name}',
        'create': 'PUT /sites/{name} : name location visibility=tenant',
        'update': 'POST /sites/{name} : name location visibility new_name',
        'delete': 'DELETE? /sites/{name}',
    },
    'snapshots': {
        'list': 'GET /snapshots',
        'get': 'GET /snapshots/{snapshot_id}',
    },
    'tasks_graphs': {'list': 'GET /tasks_graphs : execution_id name _include'},
    'tenants': {
        'list': 'GET /tenants',
        'get': 'GET /tenants/{tenant_name}',
    },
    'user_groups': {'list': 'GET /user-groups', 'get': 'GET /user-groups/{group_name}'},
    'users': {'list': 'GET /users', 'get': 'GET /users/{username}', 'get_self': 'GET /user'},
    'workflows': {'list': 'GET /workflows : filter_id deployment_id'},
}

# Where lists with filter rules or constraints are asked for.
SEARCHES = {
    'blueprints': '/searches/blueprints',
    'deployments': '/searches/deployments',
    'node_instances': '/searches/node-instances',
    'nodes': '/searches/nodes',
    'secrets': '/searches/secrets',
    'workflows': '/searches/workflows',
}

import { bad, badInclude, noCredentials, nothingThere, type SpecCases } from './spec-case';

/** Rows of rest-v2.1. Calls of `given` use v3.1; calls under test have no tenant header. */
export const v21: SpecCases = {
  'v2.1 GET /blueprints': {
    ok: { path: '/blueprints' },
    answer: 'list',
    fields: 'BlueprintV21',
    refused: { path: '/blueprints?_include=rubbish', ...badInclude },
  },
  'v2.1 GET /blueprints?id=<id>': {
    ok: { path: '/blueprints?id=b1' },
    answer: 'list',
    fields: 'BlueprintV21',
    refused: { path: '/blueprints?rubbish=1', ...bad },
  },
  'v2.1 PUT /blueprints/{blueprint_id}': {
    ok: { path: '/blueprints/old?application_file_name=blueprint.yaml', archive: 'blueprint' },
    status: 201,
    fields: 'BlueprintV21',
    refused: {
      path: '/blueprints/old2',
      archive: 'broken',
      status: 400,
      code: 'invalid_blueprint_error',
    },
  },
  'v2.1 DELETE /blueprints/{blueprint_id}': {
    given: [['PUT', { path: '/blueprints/old-gone', archive: 'blueprint' }]],
    ok: { path: '/blueprints/old-gone' },
    fields: 'BlueprintV21',
    refused: { path: '/blueprints/nosuch', ...nothingThere },
  },
  'v2.1 GET /blueprints/{blueprint_id}/archive': {
    ok: { path: '/blueprints/b1/archive' },
    answer: 'archive',
    refused: { path: '/blueprints/nosuch/archive', ...nothingThere },
  },
  'v2.1 GET /deployments': {
    ok: { path: '/deployments?blueprint_id=b1' },
    answer: 'list',
    fields: 'DeploymentV21',
    refused: { path: '/deployments?_include=rubbish', ...badInclude },
  },
  'v2.1 GET /deployments?id=<id>': {
    ok: { path: '/deployments?id=d1' },
    answer: 'list',
    fields: 'DeploymentV21',
    refused: { path: '/deployments?rubbish=1', ...bad },
  },
  'v2.1 PUT /deployments/{deployment_id}': {
    ok: { path: '/deployments/old', body: { blueprint_id: 'b1', inputs: {} } },
    status: 201,
    fields: 'DeploymentV21',
    refused: { path: '/deployments/old2', body: {}, ...bad },
  },
  'v2.1 DELETE /deployments/{deployment_id}': {
    given: [['PUT', { path: '/deployments/old-gone', body: { blueprint_id: 'b1' } }]],
    ok: { path: '/deployments/old-gone', body: { ignore_live_nodes: true } },
    fields: 'DeploymentV21',
    refused: { path: '/deployments/d1', status: 400, code: 'dependent_exists_error' },
  },
  'v2.1 GET /events': {
    ok: { path: '/events?type=platform_event&_range=@timestamp,2020-01-01T00:00:00Z,' },
    answer: 'list',
    fields: 'EventV21',
    refused: { path: '/events?_range=@timestamp,rubbish,', ...bad },
  },
  'v2.1 GET /executions': {
    ok: { path: '/executions?deployment_id=d1' },
    answer: 'list',
    fields: 'ExecutionV21',
    refused: { path: '/executions?rubbish=1', ...bad },
  },
  'v2.1 GET /executions/{execution_id}': {
    ok: { path: '/executions/$execution' },
    fields: 'ExecutionV21',
    refused: { path: '/executions/nosuch', ...nothingThere },
  },
  'v2.1 POST /executions': {
    ok: {
      path: '/executions',
      body: {
        workflow_id: 'execute_operation',
        deployment_id: 'd2',
        parameters: { operation: 'cloudify.interfaces.lifecycle.create', unknown: 1 },
        allow_custom_parameters: true,
        force: true,
      },
    },
    status: 201,
    fields: 'ExecutionV21',
    refused: {
      path: '/executions',
      body: { workflow_id: 'nosuch', deployment_id: 'd1' },
      status: 400,
      code: 'nonexistent_workflow_error',
    },
  },
  'v2.1 POST /executions/{execution_id}': {
    ok: { path: '/executions/$running1', body: { action: 'force-cancel', deployment_id: 'running1' } },
    fields: 'ExecutionV21',
    refused: { path: '/executions/$execution', body: { action: 'rubbish' }, ...bad },
  },
  'v2.1 PATCH /executions/{execution_id}': {
    ok: { path: '/executions/$execution', body: { status: 'terminated' } },
    fields: 'ExecutionV21',
    refused: {
      path: '/executions/$execution',
      body: { status: 'started' },
      status: 400,
      code: 'invalid_exception_status_update',
    },
  },
  'v2.1 GET /status': {
    ok: { path: '/status' },
    fields: 'StatusV21',
    refused: { path: '/status', ...noCredentials },
  },
  'v2.1 GET /version': {
    ok: { path: '/version' },
    fields: 'VersionV21',
    refused: { path: '/version?_include=rubbish', ...badInclude },
  },
  'v2.1 GET /node-instances': {
    ok: { path: '/node-instances?deployment_id=d1' },
    answer: 'list',
    fields: 'NodeInstanceV21',
    refused: { path: '/node-instances?rubbish=1', ...bad },
  },
  'v2.1 GET /node-instances/{id}': {
    ok: { path: '/node-instances/$instance' },
    fields: 'NodeInstanceV21',
    refused: { path: '/node-instances/nosuch', ...nothingThere },
  },
  'v2.1 PATCH /node-instances?id={node_instance_id}': {
    ok: { path: '/node-instances?id=$instance2', body: { version: 1000, runtime_properties: { old: 1 } } },
    fields: 'NodeInstanceV21',
    refused: { path: '/node-instances?id=$instance2', body: { runtime_properties: {} }, ...bad },
  },
  'v2.1 GET /nodes': {
    ok: { path: '/nodes' },
    answer: 'list',
    fields: 'NodeV21',
    refused: { path: '/nodes?rubbish=1', ...bad },
  },
  'v2.1 GET /plugins': {
    ok: { path: '/plugins' },
    answer: 'list',
    fields: 'PluginV21',
    refused: { path: '/plugins?rubbish=1', ...bad },
  },
  'v2.1 GET /plugins/{plugin_id}': {
    ok: { path: '/plugins/$plugin' },
    fields: 'PluginV21',
    refused: { path: '/plugins/nosuch', ...nothingThere },
  },
  'v2.1 DELETE /plugins/{plugin_id}': {
    ok: { path: '/plugins/$pluginGone1', body: { force: false } },
    fields: 'PluginV21',
    refused: { path: '/plugins/nosuch', body: { force: true }, ...nothingThere },
  },
  'v2.1 POST /plugins/{plugin_id}': {
    ok: { path: '/plugins/$newId1', archive: 'plugin' },
    status: 201,
    fields: 'PluginV21',
    refused: { path: '/plugins/$newId2', archive: 'broken', status: 400, code: 'invalid_plugin_error' },
  },
  'v2.1 GET /plugins/{plugin_id}/archive': {
    ok: { path: '/plugins/$plugin/archive' },
    answer: 'archive',
    refused: { path: '/plugins/nosuch/archive', ...nothingThere },
  },
  'v2.1 GET /snapshots': {
    ok: { path: '/snapshots' },
    answer: 'list',
    fields: 'Snapshot',
    refused: { path: '/snapshots?rubbish=1', ...bad },
  },
  'v2.1 PUT /snapshots/{snapshot_id}': {
    ok: { path: '/snapshots/old', body: { include_metrics: false, include_credentials: false } },
    status: 201,
    fields: 'ExecutionV21',
    refused: { path: '/snapshots/bad%20name', body: {}, ...bad },
  },
  'v2.1 DELETE /snapshots/{snapshot_id}': {
    ok: { path: '/snapshots/$snapshotGone1' },
    fields: 'Snapshot',
    refused: { path: '/snapshots/nosuch', ...nothingThere },
  },
  'v2.1 POST /snapshots/{snapshot_id}/restore': {
    ok: {
      path: '/snapshots/$snapshot/restore',
      body: { force: true, dry_run: true, recreate_deployments_envs: true },
    },
    fields: 'ExecutionV21',
    refused: { path: '/snapshots/nosuch/restore', body: { force: true }, ...nothingThere },
  },
  'v2.1 GET /snapshots/{snapshot_id}/archive': {
    ok: { path: '/snapshots/$snapshot/archive' },
    answer: 'archive',
    refused: { path: '/snapshots/nosuch/archive', ...nothingThere },
  },
  'v2.1 PUT /snapshots/{snapshot_id}/archive': {
    ok: { path: '/snapshots/uploaded-old/archive', archive: 'nothing' },
    status: 201,
    fields: 'Snapshot',
    refused: { path: '/snapshots/bad%20name/archive', archive: 'nothing', ...bad },
  },
  'v2.1 GET /tokens': {
    ok: { path: '/tokens' },
    fields: 'TokenV21',
    refused: { path: '/tokens', ...noCredentials },
  },
};

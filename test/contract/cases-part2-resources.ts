import {
  bad,
  badInclude,
  conflict,
  forbidden,
  nothingThere,
  type SpecCase,
  type SpecCases,
} from './spec-case';

const page = (path: string, fields: SpecCase['fields']): SpecCase => ({
  ok: { path: `${path}?_size=5` },
  answer: 'list',
  fields,
  refused: { path: `${path}?_include=rubbish`, ...badInclude },
});
const operation = {
  name: 'one',
  graph_id: '$clientGraph',
  dependencies: [],
  type: 'RemoteWorkflowTask',
  parameters: { task_kwargs: {} },
};
const operations: SpecCases = {
  'v3.1 GET /operations': {
    ok: { path: '/operations?graph_id=$graph' },
    answer: 'array',
    fields: 'Operation',
    refused: { path: '/operations', ...bad },
  },
  'v3.1 PUT /operations/{operation_id}': {
    ok: { path: '/operations/new', body: operation },
    status: 201,
    fields: 'Operation',
    refused: { path: '/operations/other', body: { name: 'two' }, ...bad },
  },
  'v3.1 PATCH /operations/{operation_id}': {
    given: [['PUT', { path: '/operations/changed', body: operation }]],
    ok: { path: '/operations/changed', body: { state: 'sent' } },
    fields: 'Operation',
    refused: { path: '/operations/nosuch', body: { state: 'sent' }, ...nothingThere },
  },
  'v3.1 DELETE /operations/{operation_id}': {
    given: [['PUT', { path: '/operations/gone', body: operation }]],
    ok: { path: '/operations/gone' },
    status: 204,
    answer: 'empty',
    refused: { path: '/operations/nosuch', ...nothingThere },
  },
};

const plugins: SpecCases = {
  'v3.1 GET /plugins': page('/plugins', 'Plugin'),
  'v3.1 GET /plugins/{plugin_id}': {
    ok: { path: '/plugins/$plugin' },
    fields: 'Plugin',
    refused: { path: '/plugins/nosuch', ...nothingThere },
  },
  'v3.1 DELETE /plugins/{plugin_id}': {
    ok: { path: '/plugins/$pluginGone2', body: { force: true } },
    status: 204,
    answer: 'empty',
    refused: { path: '/plugins/nosuch', body: {}, ...nothingThere },
  },
  'v3.1 POST /plugins': {
    ok: { path: '/plugins?title=mine&visibility=tenant', archive: 'plugin' },
    status: 201,
    fields: 'Plugin',
    refused: { path: '/plugins', archive: 'broken', status: 400, code: 'invalid_plugin_error' },
  },
  'v3.1 GET /plugins/{plugin_id}/archive': {
    ok: { path: '/plugins/$plugin/archive' },
    answer: 'archive',
    refused: { path: '/plugins/nosuch/archive', ...nothingThere },
  },
  'v3.1 PATCH /plugins/{plugin_id}/set-global': {
    ok: { path: '/plugins/$plugin/set-global' },
    fields: 'Plugin',
    refused: { path: '/plugins/$plugin/set-global', as: 'viewer', ...forbidden },
  },
  'v3.1 PATCH /plugins/{plugin_id}/set-visibility': {
    ok: { path: '/plugins/$plugin/set-visibility', body: { visibility: 'global' } },
    fields: 'Plugin',
    refused: { path: '/plugins/$plugin/set-visibility', body: { visibility: 'private' }, ...bad },
  },
  'v3.1 PUT /plugins-updates/{blueprint_id}/update/initiate': {
    ok: { path: '/plugins-updates/b1/update/initiate', body: { force: true } },
    fields: 'PluginsUpdate',
    refused: { path: '/plugins-updates/nosuch/update/initiate', body: {}, ...nothingThere },
  },
  'v3.1 GET /plugins-updates/{plugins_update_id}': {
    ok: { path: '/plugins-updates/$pluginsUpdate' },
    fields: 'PluginsUpdate',
    refused: { path: '/plugins-updates/nosuch', ...nothingThere },
  },
  'v3.1 GET /plugins-updates': page('/plugins-updates', 'PluginsUpdate'),
};

const secrets: SpecCases = {
  'v3.1 GET /secrets': page('/secrets', 'SecretInList'),
  'v3.1 GET /secrets/{secret_key}': {
    ok: { path: '/secrets/s1' },
    fields: 'Secret',
    refused: { path: '/secrets/nosuch', ...nothingThere },
  },
  'v3.1 PUT /secrets/{secret_key}': {
    ok: { path: '/secrets/new', body: { value: 'v', update_if_exists: true, is_hidden_value: true } },
    fields: 'Secret',
    refused: { path: '/secrets/s1', body: { value: 'v' }, ...conflict },
  },
  'v3.1 PATCH /secrets/{secret_key}': {
    ok: { path: '/secrets/s1', body: { value: 'w', is_hidden_value: false } },
    fields: 'Secret',
    refused: { path: '/secrets/nosuch', body: { value: 'w' }, ...nothingThere },
  },
  'v3.1 DELETE /secrets/{secret_key}': {
    given: [['PUT', { path: '/secrets/gone', body: { value: 'v' } }]],
    ok: { path: '/secrets/gone' },
    status: 204,
    answer: 'empty',
    refused: { path: '/secrets/nosuch', ...nothingThere },
  },
  'v3.1 PATCH /secrets/{secret_key}/set-global': {
    given: [['PUT', { path: '/secrets/wide1', body: { value: 'v' } }]],
    ok: { path: '/secrets/wide1/set-global' },
    fields: 'Secret',
    refused: { path: '/secrets/nosuch/set-global', ...nothingThere },
  },
  'v3.1 PATCH /secrets/{secret_key}/set-visibility': {
    given: [['PUT', { path: '/secrets/wide2', body: { value: 'v' } }]],
    ok: { path: '/secrets/wide2/set-visibility', body: { visibility: 'global' } },
    fields: 'Secret',
    refused: { path: '/secrets/s1/set-visibility', body: {}, ...bad },
  },
  'v3.1 GET /secrets/share/export': {
    ok: { path: '/secrets/share/export?_passphrase=long-enough-words' },
    answer: 'array',
    fields: 'ExportedSecret',
    refused: { path: '/secrets/share/export', as: 'viewer', ...forbidden },
  },
  'v3.1 POST /secrets/share/import': {
    ok: {
      path: '/secrets/share/import',
      body: {
        secrets_list: [
          {
            key: 'imported',
            value: 'v',
            tenant_name: 'default_tenant',
            visibility: 'tenant',
            is_hidden_value: false,
            encrypted: false,
          },
        ],
        tenant_map_dict: { default_tenant: 'default_tenant' },
        override_collisions: true,
      },
    },
    fields: 'Import',
    refused: { path: '/secrets/share/import', body: { override_collisions: true }, ...bad },
  },
};

const sites: SpecCases = {
  'v3.1 GET /sites': page('/sites', 'Site'),
  'v3.1 GET /sites/{site_name}': {
    ok: { path: '/sites/site1' },
    fields: 'Site',
    refused: { path: '/sites/nosuch', ...nothingThere },
  },
  'v3.1 PUT /sites/{site_name}': {
    ok: { path: '/sites/new', body: { location: '10.5, 20.25', visibility: 'tenant' } },
    fields: 'Site',
    refused: { path: '/sites/wrong', body: { location: '100, 0' }, ...bad },
  },
  'v3.1 POST /sites/{site_name}': {
    given: [['PUT', { path: '/sites/before', body: {} }]],
    ok: { path: '/sites/before', body: { new_name: 'after', location: '1,2', visibility: 'global' } },
    fields: 'Site',
    refused: { path: '/sites/site1', body: { new_name: 'bad name' }, ...bad },
  },
  'v3.1 DELETE /sites/{site_name}': {
    given: [['PUT', { path: '/sites/gone', body: {} }]],
    ok: { path: '/sites/gone' },
    status: 204,
    answer: 'empty',
    refused: { path: '/sites/nosuch', ...nothingThere },
  },
};

const snapshots: SpecCases = {
  'v3.1 GET /snapshots': page('/snapshots', 'Snapshot'),
  'v3.1 PUT /snapshots/{snapshot_id}': {
    ok: { path: '/snapshots/new', body: { include_credentials: false, include_logs: true, queue: true } },
    status: 201,
    fields: 'Execution',
    refused: { path: '/snapshots/bad%20name', body: {}, ...bad },
  },
  'v3.1 DELETE /snapshots/{snapshot_id}': {
    ok: { path: '/snapshots/$snapshotGone2' },
    status: 204,
    answer: 'empty',
    refused: { path: '/snapshots/nosuch', ...nothingThere },
  },
  'v3.1 POST /snapshots/{snapshot_id}/restore': {
    ok: { path: '/snapshots/$snapshot/restore', body: { force: true, dry_run: true } },
    fields: 'Execution',
    refused: { path: '/snapshots/nosuch/restore', body: { force: true }, ...nothingThere },
  },
  'v3.1 GET /snapshots/{snapshot_id}/archive': {
    ok: { path: '/snapshots/$snapshot/archive' },
    answer: 'archive',
    refused: { path: '/snapshots/nosuch/archive', ...nothingThere },
  },
  'v3.1 PUT /snapshots/{snapshot_id}/archive': {
    ok: { path: '/snapshots/uploaded/archive', archive: 'nothing' },
    status: 201,
    fields: 'Snapshot',
    refused: { path: '/snapshots/bad%20name/archive', archive: 'nothing', ...bad },
  },
  'v3.1 GET /snapshot-status': {
    ok: { path: '/snapshot-status', as: 'nobody' },
    fields: 'SnapshotStatus',
    refused: { path: '/snapshot-status/', ...nothingThere },
  },
  'v3.1 GET /summary/blueprints': {
    ok: { path: '/summary/blueprints?_target_field=tenant_name&_sub_field=visibility&_all_tenants=true' },
    answer: 'list',
    fields: 'Summary',
    refused: { path: '/summary/blueprints?_target_field=rubbish', ...bad },
  },
};

/** Rows of rest-v3.1-part2, beginning with the operations. */
export const part2Resources: SpecCases = {
  ...operations,
  ...plugins,
  ...secrets,
  ...sites,
  ...snapshots,
};

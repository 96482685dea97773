// Parts of published blueprints that use the types of rest, secrets and so on, and what the original plugin makes of them.
import { planWith, pluginYamlOf } from '@baton/testkit/plan-with';
import plugin from './plugin';

const yaml = pluginYamlOf(plugin);

interface PlannedOperation {
  plugin: string;
  operation: string;
  inputs: object;
}

async function planOf(text: string) {
  const plan = await planWith(
    yaml,
    `tosca_definitions_version: cloudify_dsl_1_4
imports:
  - cloudify/types/types.yaml
  - plugin:cloudify-utilities-plugin
${text}`,
  );
  return plan;
}

const operationOf = (node: { operations: unknown }, name: string) => {
  const found = (node.operations as Record<string, PlannedOperation>)[name]!;
  return { mapping: `${found.plugin}.${found.operation}`, inputs: found.inputs };
};
const LIFECYCLE = 'cloudify.interfaces.lifecycle';

it('calls of HTTP APIs, where blueprints give only inputs', async () => {
  const plan = await planOf(`
inputs: { rest_endpoint: { default: example.org } }
node_templates:
  user10:
    type: cloudify.rest.Requests
    properties: { hosts: [{ get_input: rest_endpoint }], port: 443, ssl: true, verify: false }
    interfaces:
      cloudify.interfaces.lifecycle:
        start:
          inputs: { template_file: templates/get-user.yaml, params: { ID: { get_attribute: [SELF, id] } } }
  bunch:
    type: cloudify.nodes.rest.BunchRequests
    interfaces:
      cloudify.interfaces.lifecycle:
        start: { inputs: { templates: [{ template_file: a.yaml, save_to: a }] } }
`);
  const [user, bunch] = ['user10', 'bunch'].map((name) => plan.nodes.find(({ id }) => id === name)!);
  expect(user!.type_hierarchy.slice(1)).toEqual(['cloudify.nodes.rest.Requests', 'cloudify.rest.Requests']);
  expect(user!.properties).toEqual({
    hosts: [{ get_input: 'rest_endpoint' }],
    host: [],
    port: 443,
    ssl: true,
    verify: false,
    proxies: {},
    params: {},
    use_external_resource: false,
  });
  expect(operationOf(user!, `${LIFECYCLE}.start`)).toEqual({
    mapping: 'rest.cloudify_rest.tasks.execute',
    inputs: {
      params: { ID: { get_attribute: ['SELF', 'id'] } },
      template_file: 'templates/get-user.yaml',
      save_path: false,
      prerender: false,
      remove_calls: false,
      force_rerun: false,
      retry_count: 1,
      retry_sleep: 15,
    },
  });
  expect(operationOf(bunch!, `${LIFECYCLE}.start`)).toEqual({
    mapping: 'rest.cloudify_rest.tasks.bunch_execute',
    inputs: { auth: {}, templates: [{ template_file: 'a.yaml', save_to: 'a' }] },
  });
});

it('calls and logs that blueprints map directly', async () => {
  const plan = await planOf(`
relationships:
  calls:
    derived_from: cloudify.relationships.connected_to
    source_interfaces:
      cloudify.interfaces.relationship_lifecycle:
        establish:
          implementation: rest.cloudify_rest.tasks.execute_as_relationship
          inputs: { template_file: { default: a.yaml } }
node_templates:
  a: { type: cloudify.nodes.Root }
  b: { type: cloudify.nodes.Root, relationships: [{ type: calls, target: a }] }
`);
  const [relationship] = plan.nodes.find(({ id }) => id === 'b')!.relationships;
  expect(relationship!.source_operations).toHaveProperty(
    ['cloudify.interfaces.relationship_lifecycle.establish', 'operation'],
    'cloudify_rest.tasks.execute_as_relationship',
  );
  expect(plugin.operations).toHaveProperty(['cloudify_rest.tasks.execute_as_relationship']);
});

it('secrets, files, configurations and lists', async () => {
  const { nodes } = await planOf(`
node_templates:
  loader: { type: configuration_loader, properties: { parameters_json: '{}' } }
  router: { type: cloudify.nodes.Root, relationships: [{ type: load_from_config, target: loader }] }
  writer: { type: cloudify.nodes.secrets.Writer, properties: { entries: { a: 1 } } }
  reader: { type: cloudify.nodes.secrets.Reader, properties: { keys: [a] } }
  list: { type: cloudify.nodes.resources.List, properties: { resource_config: [1] } }
  file:
    type: cloudify.nodes.File
    properties: { resource_config: { resource_path: a, file_path: /a, owner: 'a:b', mode: 777 } }
`);
  const of = (name: string) => nodes.find(({ id }) => id === name)!;
  expect(of('loader').type_hierarchy.slice(-3)).toEqual([
    'cloudify.nodes.ApplicationServer',
    'cloudify.nodes.ConfigurationLoader',
    'configuration_loader',
  ]);
  expect(operationOf(of('loader'), `${LIFECYCLE}.configure`)).toEqual({
    mapping: 'configuration.cloudify_configuration.tasks.load_configuration',
    inputs: { parameters: { get_property: ['SELF', 'parameters_json'] }, merge_dicts: false },
  });
  expect(of('router').relationships[0]!.target_operations).toHaveProperty(
    ['cloudify.interfaces.relationship_lifecycle.preconfigure', 'inputs'],
    { source_config: { get_attribute: ['TARGET', 'params'] } },
  );
  const update = 'cloudify.interfaces.operations.update';
  expect(operationOf(of('writer'), update).mapping).toBe('secrets.cloudify_secrets.tasks.update');
  expect(operationOf(of('reader'), update).mapping).toBe('secrets.cloudify_secrets.tasks.read');
  expect(operationOf(of('list'), 'cloudify.interfaces.operations.reserve')).toEqual({
    mapping: 'resources.cloudify_resources.tasks.reserve_list_item',
    inputs: { reservation_id: '' },
  });
  expect(operationOf(of('file'), `${LIFECYCLE}.delete`).mapping).toBe(
    'cfy_files.cloudify_files.tasks.delete',
  );
  expect(of('file').properties.resource_config).toMatchObject({
    use_sudo: false,
    allow_failure: false,
    mode: 777,
  });
});

it('workflows, with their mappings, defaults and the states in which they may run', async () => {
  const { workflows } = await planOf('node_templates: { a: { type: cloudify.nodes.Root } }');
  const of = (name: string) => (workflows as unknown as Record<string, Record<string, unknown>>)[name]!;
  expect(of('backup')).toMatchObject({
    plugin: 'suspend',
    operation: 'cloudify_suspend.workflows.backup',
    availability_rules: { node_instances_active: ['all', 'partial'] },
    parameters: { snapshot_rotation: { default: 1 } },
  });
  const names = [
    ...['suspend', 'resume', 'statistics', 'restore', 'remove_backup', 'scaleuplist', 'scaledownlist'],
    ...[
      'update_operation_filtered',
      'hook_workflow_run_filtered',
      'rollback_deprecated',
      'configuration_update',
    ],
    ...[
      'start',
      'stop',
      'precreate',
      'create',
      'configure',
      'poststart',
      'prestop',
      'delete',
      'postdelete',
    ].map((name) => `alt_${name}`),
    ...['batch_deploy', 'batch_install', 'batch_deploy_and_install'],
  ];
  for (const name of names) expect(plugin.workflows).toHaveProperty([of(name).operation as string]);
});

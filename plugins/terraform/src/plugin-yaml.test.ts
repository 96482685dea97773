// Parts of published blueprints, and the plans that the original plugin gives.
import { planWith, pluginYamlOf } from '@baton/testkit/plan-with';
import plugin from './plugin';

const yaml = pluginYamlOf(plugin);

interface PlannedOperation {
  plugin: string;
  operation: string;
  inputs: object;
}

async function planOf(templates: string) {
  const plan = await planWith(
    yaml,
    `tosca_definitions_version: cloudify_dsl_1_5
imports:
  - cloudify/types/types.yaml
  - plugin:cloudify-terraform-plugin
node_templates:
${templates}`,
  );
  return plan;
}

const mappingsOf = (operations: unknown) =>
  Object.fromEntries(
    Object.entries(operations as Record<string, PlannedOperation>)
      .filter(([name, { plugin: by }]) => by === 'tf' && name.includes('.'))
      .map(([name, { plugin: by, operation }]) => [name, `${by}.${operation}`]),
  );

const BLUEPRINT = `  terraform:
    type: cloudify.nodes.terraform
    properties:
      resource_config:
        installation_source: https://releases.example.org/terraform.zip
  cloud_resources:
    type: cloudify.nodes.terraform.Module
    properties:
      resource_config:
        source:
          location: resources/template.zip
        variables:
          admin_user: { get_secret: user }
        environment_variables:
          AWS_REGION: eu-west-1
    relationships:
      - target: terraform
        type: cloudify.terraform.relationships.run_on_host
`;

it('gives host and module the plan of the original', async () => {
  const { nodes } = await planOf(BLUEPRINT);
  const [host, module] = ['terraform', 'cloud_resources'].map((id) => nodes.find((node) => node.id === id)!);
  expect(host!.type_hierarchy.slice(1)).toEqual([
    'cloudify.nodes.SoftwareComponent',
    'cloudify.nodes.terraform',
  ]);
  expect(host!.properties.resource_config).toEqual({
    use_existing_resource: false,
    installation_source: 'https://releases.example.org/terraform.zip',
    plugins: {},
  });
  expect(mappingsOf(host!.operations)).toEqual({
    'cloudify.interfaces.lifecycle.create': 'tf.cloudify_tf.tasks.install',
    'cloudify.interfaces.lifecycle.delete': 'tf.cloudify_tf.tasks.uninstall',
  });
  expect(module!.type_hierarchy.slice(1)).toEqual([
    'cloudify.nodes.ApplicationModule',
    'cloudify.nodes.terraform.Module',
  ]);
  expect(module!.properties).toMatchObject({
    resource_config: {
      source: { location: 'resources/template.zip' },
      source_path: '',
      backend: {},
      provider: { filename: 'provider.tf' },
      required_providers: { filename: 'versions.tf.json' },
      variables: { admin_user: { get_secret: 'user' } },
      environment_variables: { AWS_REGION: 'eu-west-1' },
      flags_override: [],
      log_stdout: true,
      obfuscate_sensitive: false,
    },
    max_runtime_property_size: 1000000,
    max_stored_filesize: 1000000,
    store_plugins_dir: false,
    provider_upgrade: false,
    general_executor_process: { max_sleep_time: 300 },
  });
});

it('maps the operations of a module as the original does, in its interfaces', async () => {
  const { nodes } = await planOf(BLUEPRINT);
  const module = nodes.find((node) => node.id === 'cloud_resources')!;
  const tasks = 'tf.cloudify_tf.tasks';
  expect(mappingsOf(module.operations)).toEqual({
    'cloudify.interfaces.validation.check_status': `${tasks}.check_status`,
    'cloudify.interfaces.lifecycle.create': `${tasks}.setup_linters`,
    'cloudify.interfaces.lifecycle.configure': `${tasks}.apply`,
    'cloudify.interfaces.lifecycle.start': `${tasks}.state_pull`,
    'cloudify.interfaces.lifecycle.delete': `${tasks}.destroy`,
    'cloudify.interfaces.lifecycle.pull': `${tasks}.state_pull`,
    'cloudify.interfaces.lifecycle.heal': `${tasks}.reload_template`,
    'cloudify.interfaces.lifecycle.update': `${tasks}.reload_template`,
    'cloudify.interfaces.lifecycle.check_drift': `${tasks}.check_drift`,
    'terraform.pull': `${tasks}.state_pull`,
    'terraform.refresh': `${tasks}.state_pull`,
    'terraform.plan': `${tasks}.plan`,
    'terraform.reload': `${tasks}.reload_template`,
    'terraform.import_resource': `${tasks}.import_resource`,
    'terraform.migrate_state': `${tasks}.migrate_state`,
    'terraform.tfsec': `${tasks}.tfsec`,
    'terraform.tflint': `${tasks}.tflint`,
    'terraform.terratag': `${tasks}.terratag`,
    'terraform.infracost': `${tasks}.infracost`,
    'terraform.opa': `${tasks}.evaluate_opa_policy`,
  });
  const operations = module.operations as unknown as Record<string, PlannedOperation>;
  expect(operations['cloudify.interfaces.lifecycle.update']!.inputs).toEqual({
    source: { get_attribute: ['SELF', 'last_source_location'] },
    source_path: { get_property: ['SELF', 'resource_config', 'source_path'] },
    variables: { get_property: ['SELF', 'resource_config', 'variables'] },
    environment_variables: { get_property: ['SELF', 'resource_config', 'environment_variables'] },
    destroy_previous: false,
  });
  expect(operations['terraform.opa']!.inputs).toMatchObject({ decision: 'terraform/deny' });
});

it('keeps the relationship under both names, and the workflows with their parameters', async () => {
  const { nodes, workflows } = await planOf(BLUEPRINT);
  const [relationship] = nodes.find((node) => node.id === 'cloud_resources')!.relationships;
  expect(relationship!.type_hierarchy).toEqual([
    'cloudify.relationships.depends_on',
    'cloudify.relationships.connected_to',
    'cloudify.relationships.terraform.run_on_host',
    'cloudify.terraform.relationships.run_on_host',
  ]);
  const known = workflows as unknown as Record<
    string,
    { plugin: string; operation: string; parameters: object }
  >;
  expect(
    Object.fromEntries(
      Object.entries(known)
        .filter(([, { plugin: by }]) => by === 'tf')
        .map(([name, { operation, parameters }]) => [name, [operation, Object.keys(parameters).length]]),
    ),
  ).toEqual({
    refresh_terraform_resources: ['cloudify_tf.workflows.refresh_resources', 2],
    terraform_plan: ['cloudify_tf.workflows.terraform_plan', 6],
    reload_terraform_template: ['cloudify_tf.workflows.reload_resources', 8],
    update_terraform_binary: ['cloudify_tf.workflows.update_terraform_binary', 3],
    import_terraform_resource: ['cloudify_tf.workflows.import_resource', 8],
    run_infracost: ['cloudify_tf.workflows.run_infracost', 7],
    migrate_state: ['cloudify_tf.workflows.migrate_state', 4],
  });
});

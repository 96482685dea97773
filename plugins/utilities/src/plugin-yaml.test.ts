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
  - plugin:cloudify-utilities-plugin?version= >=1.22.1
node_templates:
${templates}`,
  );
  return plan.nodes.map(({ type_hierarchy, properties, operations, plugins }) => ({
    type_hierarchy,
    properties,
    operations: Object.fromEntries(
      Object.entries(operations as unknown as Record<string, PlannedOperation>)
        .filter(([name, { plugin }]) => plugin !== '' && name.startsWith('cloudify.interfaces.lifecycle.'))
        .map(([name, { plugin, operation, inputs }]) => [
          name.split('.').at(-1)!,
          { mapping: `${plugin}.${operation}`, inputs },
        ]),
    ),
    packages: [...new Set(plugins.map((one) => one.package_name))],
  }));
}

it('gives a key the plan of the original', async () => {
  const [key] = await planOf(`  agent_key:
    type: cloudify.nodes.keys.RSAKey
    properties:
      resource_config:
        key_name: { get_sys: [deployment, id] }
        openssh_format: true
      use_secrets_if_exist: true
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: keys.cloudify_ssh_key.operations.create
          inputs:
            store_private_key_material: true
`);
  expect(key).toEqual({
    type_hierarchy: ['cloudify.nodes.Root', 'cloudify.nodes.keys.RSAKey'],
    properties: {
      use_external_resource: false,
      use_secret_store: true,
      use_secrets_if_exist: true,
      resource_config: {
        public_key_path: '~/.ssh/id_rsa.pub',
        key_name: { get_sys: ['deployment', 'id'] },
        algorithm: 'RSA',
        bits: 2048,
        openssh_format: true,
      },
    },
    operations: {
      create: {
        mapping: 'keys.cloudify_ssh_key.operations.create',
        inputs: { store_public_key_material: true, store_private_key_material: true },
      },
      delete: { mapping: 'keys.cloudify_ssh_key.operations.delete', inputs: {} },
    },
    packages: ['cloudify-utilities-plugin'],
  });
});

it('gives a configuration the plan of the original, and the old name of a type its new one', async () => {
  const [config, old] = await planOf(`  config:
    type: cloudify.nodes.CloudInit.CloudConfig
    properties: { resource_config: { users: [{ name: { get_sys: [tenant, name] } }] } }
  old:
    type: cloudify.keys.nodes.RSAKey
    properties: { resource_config: {} }
`);
  const update = { mapping: 'cloudinit.cloudify_cloudinit.tasks.update', inputs: {} };
  expect(config).toMatchObject({
    properties: {
      header: '#cloud-config',
      encode_base64: false,
      resource_config: { users: [{ name: { get_sys: ['tenant', 'name'] } }] },
    },
    operations: {
      create: update,
      configure: update,
      start: update,
      stop: update,
      delete: { mapping: 'cloudinit.cloudify_cloudinit.tasks.delete', inputs: {} },
    },
  });
  expect(old!.type_hierarchy.slice(1)).toEqual(['cloudify.nodes.keys.RSAKey', 'cloudify.keys.nodes.RSAKey']);
});

it('has an operation for each mapping', () => {
  for (const mapping of [
    'cloudify_ssh_key.operations.create',
    'cloudify_ssh_key.operations.delete',
    'cloudify_cloudinit.tasks.update',
    'cloudify_cloudinit.tasks.delete',
  ])
    expect(plugin.operations).toHaveProperty([mapping]);
});

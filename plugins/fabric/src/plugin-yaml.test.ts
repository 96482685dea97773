// The mappings of the original plugin.

import * as language from '@baton/dsl';
import { checkPlugin } from '@baton/plugin-sdk/testing';
import { planWith, pluginYamlOf } from '@baton/testkit/plan-with';
import plugin from './plugin';

const yaml = pluginYamlOf(plugin);

it('gives blueprints of the original the same operations', async () => {
  const plan = await planWith(
    yaml,
    `tosca_definitions_version: cloudify_dsl_1_3
imports:
  - cloudify/types/types.yaml
  - plugin:cloudify-fabric-plugin
node_templates:
  host:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: fabric.fabric_plugin.tasks.run_script
          inputs: { script_path: scripts/create.sh, fabric_env: { host: 10.0.0.1, user: centos } }
        start:
          implementation: fabric.fabric_plugin.tasks.run_commands
          inputs: { commands: [uptime] }
        stop: fabric.fabric_plugin.tasks.run_task
        delete: fabric.fabric_plugin.tasks.run_module_task
`,
  );
  const [{ operations, plugins }] = plan.nodes as unknown as [
    {
      operations: Record<string, { plugin: string; operation: string }>;
      plugins: { package_name: string }[];
    },
  ];
  const mapped = ['create', 'start', 'stop', 'delete'].map(
    (name) => operations[`cloudify.interfaces.lifecycle.${name}`]!,
  );
  expect(mapped.map(({ plugin: name }) => name)).toEqual(['fabric', 'fabric', 'fabric', 'fabric']);
  for (const { operation } of mapped) expect(plugin.operations).toHaveProperty([operation]);
  expect(plugins.map((one) => one.package_name)).toContain('cloudify-fabric-plugin');
});

it('keeps the contract of plugins', async () => {
  await expect(checkPlugin(plugin, { language })).resolves.toMatchObject({ types: [] });
});

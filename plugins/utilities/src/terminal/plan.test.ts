// Parts of published blueprints with terminals and FTP servers, and the plans that the original plugin gives.

import { derivePluginYaml13 } from '@baton/dsl';
import { planWith, pluginYamlOf } from '@baton/testkit/plan-with';
import plugin from '../plugin';

const yaml = pluginYamlOf(plugin);
/** What the manager shows to blueprints of this version. */
const yaml13 = derivePluginYaml13(yaml) ?? yaml;

async function nodesOf(templates: string) {
  const plan = await planWith(
    yaml13,
    `tosca_definitions_version: cloudify_dsl_1_3
imports:
  - cloudify/types/types.yaml
  - plugin:cloudify-utilities-plugin
node_templates:
${templates}`,
  );
  return plan.nodes as unknown as {
    type_hierarchy: string[];
    properties: object;
    operations: Record<string, { plugin: string; operation: string; inputs: object }>;
  }[];
}

const LIFECYCLE = 'cloudify.interfaces.lifecycle';

it('gives a terminal the plan of the original', async () => {
  const [device] = await nodesOf(`  device:
    type: cloudify.terminal.raw
    properties:
      terminal_auth: { user: admin, ip: 10.0.0.1, promt_check: ['> '] }
    interfaces:
      ${LIFECYCLE}:
        create:
          inputs: { calls: [{ action: show version, save_to: version }] }
`);
  expect(device!.type_hierarchy).toEqual([
    'cloudify.nodes.Root',
    'cloudify.nodes.terminal.Raw',
    'cloudify.terminal.raw',
  ]);
  expect(device!.properties).toEqual({
    use_external_resource: false,
    terminal_auth: {
      user: 'admin',
      password: '',
      ip: '10.0.0.1',
      key_content: '',
      port: 22,
      store_logs: false,
      promt_check: ['> '],
      warnings: [],
      errors: [],
      criticals: [],
      exit_command: 'exit',
      smart_device: false,
    },
  });
  expect(device!.operations[`${LIFECYCLE}.create`]).toMatchObject({
    plugin: 'terminal',
    operation: 'cloudify_terminal.tasks.run',
    inputs: { calls: [{ action: 'show version', save_to: 'version' }] },
  });
  for (const name of ['configure', 'start', 'stop', 'delete'])
    expect(device!.operations[`${LIFECYCLE}.${name}`]).toMatchObject({
      operation: 'cloudify_terminal.tasks.run',
    });
});

it('gives files on an FTP server the plan of the original', async () => {
  const [files] = await nodesOf(`  files:
    type: cloudify.nodes.ftp
    properties:
      resource_config: { user: ftp, ip: 10.0.0.1 }
      files: { motd: hello }
`);
  const own = (name: string) => ({ get_property: ['SELF', name] });
  expect(files!.properties).toEqual({
    use_external_resource: false,
    resource_config: { user: 'ftp', password: '', ip: '10.0.0.1', port: 21, ignore_host: false, tls: false },
    files: { motd: 'hello' },
    raw_files: {},
  });
  expect(files!.operations[`${LIFECYCLE}.create`]).toMatchObject({
    plugin: 'cfy_ftp',
    operation: 'cloudify_ftp.tasks.create',
    inputs: { resource_config: own('resource_config'), raw_files: own('raw_files'), files: own('files') },
  });
  expect(files!.operations[`${LIFECYCLE}.delete`]).toMatchObject({
    operation: 'cloudify_ftp.tasks.delete',
    inputs: { resource_config: own('resource_config') },
  });
});

// The contract of all plugins that come with Baton, and the plan of a published blueprint.

import * as language from '@baton/dsl';
import { checkPlugin } from '@baton/plugin-sdk/testing';
import { planWith, pluginYamlOf } from '@baton/testkit/plan-with';
import plugin from './plugin';

it('has descriptions, and operations for all mappings', async () => {
  const { types } = await checkPlugin(plugin, { language });
  expect(types).toHaveLength(4);
  for (const name of 'install_binary check_status_binary uninstall_binary add_repo remove_repo update_repo'.split(
    ' ',
  ))
    expect(plugin.operations).toHaveProperty([`cloudify_helm.tasks.${name}`]);
});

const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_5
imports:
  - cloudify/types/types.yaml
  - plugin:cloudify-helm-plugin
node_templates:
  helm:
    type: cloudify.nodes.helm.Binary
    properties: { use_existing_resource: true }
  repo:
    type: cloudify.nodes.helm.Repo
    properties: { resource_config: { name: bitnami, repo_url: https://charts.bitnami.com/bitnami } }
    relationships: [{ type: cloudify.helm.relationships.run_on_host, target: helm }]
  release:
    type: cloudify.nodes.helm.Release
    properties:
      client_config: { configuration: { file_content: x } }
      resource_config:
        name: web
        chart: bitnami/apache
        flags: [{ name: namespace, value: web }]
    interfaces:
      cloudify.interfaces.lifecycle:
        start: { inputs: { flags: [{ name: debug }] } }
    relationships:
      - { type: cloudify.helm.relationships.run_on_host, target: helm }
      - { type: cloudify.relationships.depends_on, target: repo }
`;

it('gives a release the plan of the original', async () => {
  const yaml = pluginYamlOf(plugin);
  const plan = await planWith(yaml, BLUEPRINT);
  const release = plan.nodes.find(({ name }) => name === 'release')!;
  const operations = release.operations as unknown as Record<string, { operation: string; inputs: object }>;
  const of = (name: string): string => operations[name]!.operation;
  expect(release.properties).toMatchObject({
    use_external_resource: false,
    max_sleep_time: 900,
    resource_config: { name: 'web', chart: 'bitnami/apache', set_values: [] },
  });
  const lifecycle = 'cloudify.interfaces.lifecycle';
  expect(operations[`${lifecycle}.start`]).toMatchObject({
    operation: 'cloudify_helm.tasks.install_release',
    inputs: { flags: [{ name: 'debug' }] },
  });
  expect(of(`${lifecycle}.poststart`)).toBe('cloudify_helm.tasks.check_release_status');
  expect(of(`${lifecycle}.delete`)).toBe('cloudify_helm.tasks.uninstall_release');
  expect(of(`${lifecycle}.check_drift`)).toBe('cloudify_helm.tasks.check_release_drift');
  expect(of('helm.upgrade_release')).toBe('cloudify_helm.tasks.upgrade_release');
  expect(of('helm.push')).toBe('cloudify_helm.tasks.push_chart');
  const [host] = release.relationships;
  expect(JSON.stringify(host)).toContain('cloudify_helm.tasks.inject_env_properties');
});

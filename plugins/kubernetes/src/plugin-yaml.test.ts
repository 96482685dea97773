// Parts of published blueprints, and the plans that the original plugin gives.

import { describePlugin } from '@baton/plugin-sdk/manifest';
import { planWith, pluginYamlOf } from '@baton/testkit/plan-with';
import plugin from './plugin';

const yaml = pluginYamlOf(plugin);

interface PlannedOperation {
  plugin: string;
  operation: string;
}

async function planOf(templates: string) {
  const plan = await planWith(
    yaml,
    `tosca_definitions_version: cloudify_dsl_1_5
imports:
  - cloudify/types/types.yaml
  - plugin:cloudify-kubernetes-plugin?version= >=2.7.0
inputs: { ip: {}, token: {} }
node_templates:
${templates}`,
  );
  return plan.nodes.map(({ type_hierarchy, properties, operations, relationships, plugins }) => ({
    type_hierarchy,
    properties,
    relationships: relationships.map((one) => one.type_hierarchy),
    operations: Object.fromEntries(
      Object.entries(operations as unknown as Record<string, PlannedOperation>)
        .filter(([name, { plugin: of }]) => of === 'kubernetes' && name.includes('.'))
        .map(([name, { operation }]) => [name.replace('cloudify.interfaces.', ''), operation]),
    ),
    packages: [...new Set(plugins.map((one) => one.package_name))],
  }));
}

const tasks = (prefix: string, checks = prefix) => ({
  'lifecycle.create': `cloudify_kubernetes.tasks.${prefix}_create`,
  'lifecycle.poststart': `cloudify_kubernetes.tasks.${prefix}_read`,
  'lifecycle.update': `cloudify_kubernetes.tasks.${prefix}_update`,
  'lifecycle.delete': `cloudify_kubernetes.tasks.${prefix}_delete`,
  'lifecycle.check_drift': `cloudify_kubernetes.tasks.${checks}_check_drift`,
  'validation.check_status': `cloudify_kubernetes.tasks.${checks}_check_status`,
});

const BASE = {
  // The language fills in dictionaries without values, in the original too.
  client_config: { configuration: { api_options: {} }, authentication: {} },
  allow_node_redefinition: true,
  use_external_resource: false,
  create_if_missing: false,
  use_if_exists: true,
  options: { namespace: 'default' },
};

it('gives a pod in the old spelling the plan of the original', async () => {
  const [, pod] = await planOf(`  master:
    type: cloudify.kubernetes.nodes.Master
    properties:
      configuration:
        api_options: { host: { get_input: ip }, api_key: { get_input: token }, verify_ssl: false }
  pod:
    type: cloudify.kubernetes.resources.Pod
    properties:
      definition:
        apiVersion: v1
        metadata: { name: nginx }
        spec: { containers: [{ name: nginx, image: nginx:stable }] }
    relationships:
      - type: cloudify.kubernetes.relationships.managed_by_master
        target: master
`);
  expect(pod).toEqual({
    type_hierarchy: [
      'cloudify.nodes.Root',
      'cloudify.nodes.kubernetes.resources.ResourceBase',
      'cloudify.kubernetes.resources.ResourceBase',
      'cloudify.nodes.kubernetes.resources.ResourceWithValidateStatus',
      'cloudify.kubernetes.resources.ResourceWithValidateStatus',
      'cloudify.nodes.kubernetes.resources.BlueprintDefinedResource',
      'cloudify.kubernetes.resources.BlueprintDefinedResource',
      'cloudify.nodes.kubernetes.resources.Pod',
      'cloudify.kubernetes.resources.Pod',
    ],
    properties: {
      ...BASE,
      validate_resource_status: true,
      definition: {
        apiVersion: 'v1',
        metadata: { name: 'nginx' },
        spec: { containers: [{ name: 'nginx', image: 'nginx:stable' }] },
      },
    },
    relationships: [
      [
        'cloudify.relationships.depends_on',
        'cloudify.relationships.connected_to',
        'cloudify.relationships.kubernetes.managed_by_master',
        'cloudify.kubernetes.relationships.managed_by_master',
      ],
    ],
    operations: tasks('resource', 'resource_read'),
    packages: ['cloudify-kubernetes-plugin'],
  });
});

it('gives a file, a list of files and a custom resource their mappings', async () => {
  const [file, files, custom, object] = await planOf(`  file:
    type: cloudify.nodes.kubernetes.resources.FileDefinedResource
    properties: { file: { resource_path: resources/pod.yaml } }
  files:
    type: cloudify.nodes.kubernetes.resources.MultipleFileDefinedResources
    properties: { files: [{ resource_path: a.yaml }, { resource_path: b.yaml }] }
  custom:
    type: cloudify.kubernetes.resources.CustomBlueprintDefinedResource
    properties:
      definition: { apiVersion: v1, metadata: { name: x } }
      api_mapping:
        create: { api: CoreV1Api, method: create_namespaced_replication_controller, payload: V1ReplicationController }
        read: { api: CoreV1Api, method: read_namespaced_replication_controller }
        delete: { api: CoreV1Api, method: delete_namespaced_replication_controller, payload: V1DeleteOptions }
  object:
    type: cloudify.nodes.kubernetes.resources.CustomObject
    properties:
      definition: { apiVersion: stable.example.com/v1, kind: CronTab, metadata: { name: mine }, spec: { cron: x } }
      options: { group: stable.example.com, plural: crontabs, version: v1 }
`);
  expect(file!.operations).toEqual(tasks('file_resource'));
  expect(file!.properties).toEqual({
    ...BASE,
    allow_node_redefinition: false,
    validate_resource_status: true,
    file: { resource_path: 'resources/pod.yaml' },
  });
  expect(files!.operations).toEqual(tasks('multiple_file_resource'));
  expect(custom!.operations).toEqual({
    ...tasks('resource'),
    'lifecycle.create': 'cloudify_kubernetes.tasks.custom_resource_create',
    'lifecycle.delete': 'cloudify_kubernetes.tasks.custom_resource_delete',
    'lifecycle.check_drift': 'cloudify_kubernetes.tasks.custom_check_drift',
    'validation.check_status': 'cloudify_kubernetes.tasks.custom_check_status',
  });
  expect(object!.properties.options).toEqual({
    namespace: 'default',
    group: 'stable.example.com',
    plural: 'crontabs',
    version: 'v1',
  });
});

it('has both spellings of all types of the original, and an operation for each mapping', () => {
  const types = Object.keys(describePlugin(plugin).yaml.node_types as object);
  const kinds =
    'ClusterRoleBinding RoleBinding Role ClusterRole Secret ServiceAccount ConfigMap StorageClass Deployment Pod Node';
  const more =
    'ReplicaSet ReplicationController DaemonSet StatefulSet Service PersistentVolume PersistentVolumeClaim Namespace';
  const last =
    'CustomResourceDefinition CustomObject PodSecurityPolicy NetworkPolicy Ingress CustomBlueprintDefinedResource';
  const files = 'FileDefinedResource MultipleFileDefinedResources BlueprintDefinedResource ResourceBase';
  for (const name of `${kinds} ${more} ${last} ${files} ResourceWithValidateStatus SharedCluster`.split(' '))
    expect(types).toEqual(
      expect.arrayContaining([
        `cloudify.nodes.kubernetes.resources.${name}`,
        `cloudify.kubernetes.resources.${name}`,
      ]),
    );
  for (const prefix of ['resource', 'custom_resource', 'file_resource', 'multiple_file_resource'])
    for (const name of ['create', 'delete'])
      expect(plugin.operations).toHaveProperty([`cloudify_kubernetes.tasks.${prefix}_${name}`]);
});

// The types and mappings of the original plugin.
import { parseBlueprint, withBuiltinTypes } from '@baton/dsl';
import { describePlugin } from '@baton/plugin-sdk/manifest';
import { stringify } from 'yaml';
import plugin from './plugin';

const yaml = stringify(describePlugin(plugin).yaml, { aliasDuplicateObjects: false });
const LIFECYCLE = 'cloudify.interfaces.lifecycle';

it('gives blueprints of the original the same plan', async () => {
  const { plan, diagnostics } = await parseBlueprint({
    text: `tosca_definitions_version: cloudify_dsl_1_3
imports:
  - cloudify/types/types.yaml
  - plugin:cloudify-docker-plugin
node_templates:
  image:
    type: cloudify.nodes.docker.image
    properties:
      client_config: { docker_host: 10.0.0.1, docker_rest_port: "2375" }
      resource_config: { image_content: "FROM scratch", tag: "app:1" }
  container:
    type: cloudify.nodes.docker.container
    properties:
      client_config: { docker_sock_file: /var/run/docker.sock }
      resource_config: { image_tag: "app:1", container_args: { command: sleep 1, detach: true } }
    interfaces:
      ${LIFECYCLE}:
        stop: { inputs: { stop_command: "true" } }
  host:
    type: cloudify.nodes.docker.host
    properties:
      docker_machine: { docker_ip: 10.0.0.1, docker_user: me, docker_key: key }
      resource_config: { install_script: "" }
  files:
    type: cloudify.nodes.docker.container_files
    properties:
      resource_config: { source: a.zip, destination: /srv/a }
  details: { type: cloudify.nodes.docker.host_details }
  images: { type: cloudify.nodes.docker.images }
  containers: { type: cloudify.nodes.docker.containers }
`,
    location: '/bp/blueprint.yaml',
    resolver: withBuiltinTypes({ read: async () => null, plugin: async () => ({ text: yaml }) }),
  });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const nodes = plan!.nodes as unknown as {
    name: string;
    properties: Record<string, unknown>;
    operations: Record<string, { plugin: string; operation: string; inputs: object }>;
  }[];
  const own = (name: string) => {
    const { operations } = nodes.find((node) => node.name === name)!;
    return Object.fromEntries(
      Object.entries(operations)
        .filter(([key, one]) => key.startsWith(LIFECYCLE) && one.operation.startsWith('cloudify_docker'))
        .map(([key, one]) => [
          key.slice(LIFECYCLE.length + 1),
          one.operation.replace('cloudify_docker.tasks.', ''),
        ]),
    );
  };
  expect(own('image')).toEqual({ create: 'build_image', delete: 'remove_image' });
  expect(own('container')).toEqual({
    create: 'create_container',
    stop: 'stop_container',
    delete: 'remove_container',
  });
  expect(own('host')).toEqual({ create: 'install_docker', delete: 'uninstall_docker' });
  expect(own('files')).toEqual({ create: 'prepare_container_files', delete: 'remove_container_files' });
  expect([own('details'), own('images'), own('containers')]).toEqual([
    { create: 'list_host_details' },
    { create: 'list_images' },
    { create: 'list_containers' },
  ]);
  const image = nodes.find(({ name }) => name === 'image')!;
  expect(image.properties).toMatchObject({
    client_config: { docker_host: '10.0.0.1', docker_rest_port: '2375', docker_sock_file: '' },
    resource_config: { image_content: 'FROM scratch', tag: 'app:1', pull_image: false, all_tags: false },
  });
});

// The types and mappings of the original plugin.
import { planWith, pluginYamlOf } from '@baton/testkit/plan-with';
import plugin from './plugin';

const yaml = pluginYamlOf(plugin);
const LIFECYCLE = 'cloudify.interfaces.lifecycle';

/** The inputs of the original. */
const PRECREATE_INPUTS =
  `ansible_playbook_executable_path playbook_source_path playbook_path site_yaml_path save_playbook remerge_sources sources
  run_data sensitive_keys options_config ansible_env_vars debug_level additional_args`.split(/\s+/);

it('gives blueprints of the original the same plan', async () => {
  const plan = await planWith(
    yaml,
    `tosca_definitions_version: cloudify_dsl_1_3
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
      resource_config:
        source: a.zip
        destination: /srv/a
        ansible_sources: { container_volume: /in, playbook_path: site.yaml, ansible_user: me }
        terraform_sources: { container_volume: /in, plugins: ["https://example.org/p.zip"], backend: { name: s3 } }
  again:
    type: cloudify.nodes.docker.container
    properties: { resource_config: { image_tag: "app:1" } }
    interfaces:
      ${LIFECYCLE}:
        start: docker.cloudify_docker.tasks.start_container
  playbook:
    type: cloudify.nodes.docker.ansible_playbook
    properties:
      docker_machine: { docker_ip: 10.0.0.1, docker_user: me, docker_key: key, container_volume: /in }
      playbook_path: apache/site.yaml
      sources: { webservers: { hosts: { web: { ansible_host: 10.0.0.2 } } } }
      options_config: { skip_tags: [slow] }
  module:
    type: cloudify.nodes.docker.terraform_module
    properties:
      docker_machine: { docker_ip: 10.0.0.1, docker_user: me, docker_key: key, container_volume: /in }
      terraform_plugins: ["https://example.org/p.zip"]
      resource_config: { source: module.zip, variables: { a: 1 }, environment_variables: { A: b } }
  details: { type: cloudify.nodes.docker.host_details }
  images: { type: cloudify.nodes.docker.images }
  containers: { type: cloudify.nodes.docker.containers }
`,
  );
  const nodes = plan.nodes as unknown as {
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
          one.operation.replace(/^cloudify_docker\.(tasks\.)?/, ''),
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
  expect(own('again')).toMatchObject({ create: 'create_container', start: 'start_container' });
  expect(own('playbook')).toEqual({
    precreate: 'ansible.set_playbook_config',
    create: 'ansible.create_ansible_playbook',
    delete: 'ansible.remove_ansible_playbook',
  });
  expect(own('module')).toEqual({
    create: 'terraform.prepare_terraform_files',
    delete: 'terraform.remove_terraform_files',
  });
  const playbook = nodes.find(({ name }) => name === 'playbook')!;
  expect(playbook.operations[`${LIFECYCLE}.precreate`]!.inputs).toEqual(
    Object.fromEntries(PRECREATE_INPUTS.map((name) => [name, { get_property: ['SELF', name] }])),
  );
  expect(playbook.properties).toMatchObject({
    ansible_playbook_executable_path: 'ansible-playbook',
    sensitive_keys: ['ansible_password'],
    ansible_env_vars: {
      ANSIBLE_HOST_KEY_CHECKING: 'False',
      ANSIBLE_INVALID_TASK_ATTRIBUTE_FAILED: 'False',
    },
    debug_level: 2,
    run_data: {},
  });
  expect(nodes.find(({ name }) => name === 'module')!.properties).toMatchObject({
    resource_config: { source: 'module.zip', backend: {}, environment_variables: { A: 'b' } },
  });
  const image = nodes.find(({ name }) => name === 'image')!;
  expect(image.properties).toMatchObject({
    client_config: { docker_host: '10.0.0.1', docker_rest_port: '2375', docker_sock_file: '' },
    resource_config: { image_content: 'FROM scratch', tag: 'app:1', pull_image: false, all_tags: false },
  });
});

// Parts of published blueprints, and the plans that the original plugin gives.

import * as language from '@baton/dsl';
import { checkPlugin } from '@baton/plugin-sdk/testing';
import { planWith, pluginYamlOf } from '@baton/testkit/plan-with';
import plugin from './plugin';

const yaml = pluginYamlOf(plugin);

interface PlannedOperation {
  plugin: string;
  operation: string;
  inputs: Record<string, unknown>;
}
type Operations = Record<string, PlannedOperation>;

async function planOf(templates: string) {
  const plan = await planWith(
    yaml,
    `tosca_definitions_version: cloudify_dsl_1_4
imports:
  - cloudify/types/types.yaml
  - plugin:cloudify-ansible-plugin
node_templates:
  vm:
    type: cloudify.nodes.Compute
    properties: { ip: 10.0.0.1, agent_config: { install_method: none, user: centos, key: k } }
${templates}`,
  );
  const nodes = Object.fromEntries(plan.nodes.map((node) => [node.name, node]));
  return { nodes, workflows: plan.workflows };
}

const mappings = (operations: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(operations as Operations)
      .filter(([name, { plugin: of }]) => of !== '' && name.includes('.'))
      .map(([name, { plugin: of, operation }]) => [
        name.split('.').slice(-2).join('.'),
        `${of}.${operation}`,
      ]),
  );
const task = (name: string): string => `ansible.cloudify_ansible.tasks.${name}`;

/** The inputs of a run in the original: each has the value of the property. */
const RUN_INPUTS =
  `ansible_playbook_executable_path extra_packages galaxy_collections roles playbook_source_path playbook_path
  site_yaml_path save_playbook remerge_sources sources run_data sensitive_keys options_config ansible_env_vars debug_level
  additional_args start_at_task scp_extra_args sftp_extra_args ssh_common_args ssh_extra_args timeout tags auto_tags
  number_of_attempts store_facts`.split(/\s+/);
const from = (call: string, subject: string, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { [call]: [subject, name] }]));

/** Operations that the original does not have: they stand beside its own ones. */
const OURS = {
  'lifecycle.check_drift': task('check_drift'),
  'validation.check_status': task('check_status'),
  'lifecycle.heal': expect.stringContaining('.heal'),
  'lifecycle.pull': expect.stringContaining('.pull'),
  'lifecycle.update': expect.stringContaining('.update'),
};

it('gives a playbook with hosts the plan of the original', async () => {
  const { nodes } = await planOf(`  play:
    type: cloudify.nodes.ansible.Executor
    properties: { playbook_path: site.yaml, run_data: { a: 1 } }
    relationships:
      - type: cloudify.ansible.relationships.connected_to_host
        target: vm
        source_interfaces:
          cloudify.interfaces.relationship_lifecycle:
            preconfigure: { inputs: { group_name: web, hostname: one } }
`);
  const { play } = nodes;
  expect(play!.type_hierarchy).toEqual(['cloudify.nodes.Root', 'cloudify.nodes.ansible.Executor']);
  expect(play!.properties).toEqual({
    ansible_external_venv: '',
    ansible_playbook_executable_path: '',
    extra_packages: [],
    galaxy_collections: [],
    roles: [],
    module_path: '',
    playbook_source_path: '',
    playbook_path: 'site.yaml',
    site_yaml_path: '',
    additional_playbook_files: [],
    sources: '',
    run_data: { a: 1 },
    sensitive_keys: ['ansible_password'],
    options_config: {},
    ansible_env_vars: {
      ANSIBLE_HOST_KEY_CHECKING: 'False',
      ANSIBLE_INVALID_TASK_ATTRIBUTE_FAILED: 'False',
      ANSIBLE_STDOUT_CALLBACK: 'json',
    },
    debug_level: 2,
    log_stdout: true,
    additional_args: '',
    start_at_task: '',
    scp_extra_args: '',
    sftp_extra_args: '',
    ssh_common_args: '',
    ssh_extra_args: '',
    timeout: '10',
    save_playbook: false,
    remerge_sources: false,
    ansible_become: false,
    tags: [],
    auto_tags: false,
    number_of_attempts: 3,
    store_facts: true,
    use_external_resource: false,
  });
  expect(mappings(play!.operations)).toEqual({
    'lifecycle.precreate': task('precreate'),
    'lifecycle.start': task('run'),
    'lifecycle.delete': task('cleanup'),
    'ansible.reload': task('run'),
    ...OURS,
  });
  const operations = play!.operations as unknown as Operations;
  for (const name of ['cloudify.interfaces.lifecycle.start', 'ansible.reload'])
    expect(operations[name]!.inputs).toEqual(from('get_property', 'SELF', RUN_INPUTS));
  const [relationship] = play!.relationships as unknown as {
    type_hierarchy: string[];
    source_operations: Operations;
  }[];
  expect(relationship!.type_hierarchy.slice(-2)).toEqual([
    'cloudify.relationships.ansible.connected_to_host',
    'cloudify.ansible.relationships.connected_to_host',
  ]);
  expect(mappings(relationship!.source_operations)).toEqual({
    'relationship_lifecycle.preconfigure': task('ansible_requires_host'),
    'relationship_lifecycle.unlink': task('ansible_remove_host'),
  });
  expect(relationship!.source_operations.preconfigure!.inputs).toEqual({
    group_name: 'web',
    hostname: 'one',
    host_config: {},
  });
});

it('gives a playbook that runs on a host, and Ansible itself, the plans of the original', async () => {
  const { nodes, workflows } = await planOf(`  play:
    type: cloudify.nodes.ansible.Playbook
    properties: { playbook_path: site.yaml, kerberos_config: krb5.conf }
    relationships: [{ type: cloudify.relationships.ansible.run_on_host, target: vm }]
  engine: { type: cloudify.nodes.ansible.Ansible }
`);
  const { play, engine } = nodes;
  expect(mappings(play!.operations)).toEqual({
    'lifecycle.precreate': task('precreate'),
    'lifecycle.configure': task('configure'),
    'lifecycle.start': task('set_playbook_config'),
    'lifecycle.poststart': task('store_facts'),
    'ansible.reload': task('run'),
    ...OURS,
  });
  const [relationship] = play!.relationships as unknown as { source_operations: Operations }[];
  const establish = relationship!.source_operations.establish!;
  expect(`${establish.plugin}.${establish.operation}`).toBe(task('run'));
  const handed = RUN_INPUTS.filter((name) => !['roles', 'number_of_attempts', 'store_facts'].includes(name));
  expect(establish.inputs).toEqual(from('get_attribute', 'SOURCE', handed));
  expect(engine!.type_hierarchy.slice(1)).toEqual([
    'cloudify.nodes.SoftwareComponent',
    'cloudify.nodes.ansible.Ansible',
  ]);
  expect(mappings(engine!.operations)).toEqual({
    'lifecycle.create': task('install'),
    'lifecycle.delete': task('uninstall'),
    'ansible.update_venv': task('update_venv'),
  });
  const flows = workflows as unknown as Operations;
  expect(
    ['reload_ansible_playbook', 'update_playbook_venv'].map(
      (name) => `${flows[name]!.plugin}.${flows[name]!.operation}`,
    ),
  ).toEqual([
    'ansible.cloudify_ansible.workflows.reload_playbook',
    'ansible.cloudify_ansible.workflows.update_playbook_venv',
  ]);
});

it('has an operation for each mapping, also for those that blueprints use on nodes of other types', () => {
  const names = ['run', 'store_facts', 'set_playbook_config', 'cleanup', 'ansible_requires_host'];
  for (const name of [
    ...names,
    'ansible_remove_host',
    'precreate',
    'configure',
    'install',
    'uninstall',
    'update_venv',
  ])
    expect(plugin.operations).toHaveProperty([`cloudify_ansible.tasks.${name}`]);
});

it('keeps the contract of plugins', async () => {
  const { types } = await checkPlugin(plugin, { language });
  expect(types).toHaveLength(3);
});

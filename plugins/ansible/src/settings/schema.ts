import { defaultFrom } from '@baton/plugin-sdk';
import * as z from 'zod';

const texts = z.array(z.string()).default([]);
const anything = z.record(z.string(), z.any());

/** Where Ansible comes from. */
const INSTALLATION = {
  ansible_external_venv: z
    .string()
    .default('')
    .describe('A Python venv with Ansible, on the machine of the worker'),
  ansible_playbook_executable_path: z.string().default('').describe('Path of ansible-playbook'),
  extra_packages: texts.describe('Python packages to install beside Ansible. This needs a network'),
  galaxy_collections: texts.describe('Collections: names, or archives of the blueprint'),
  roles: texts.describe('Roles: names, or archives of the blueprint'),
};

/** Properties of an installation of Ansible. */
export const ANSIBLE_PROPERTIES = z.object({
  use_existing_resource: z.boolean().default(false).describe('Use the Ansible of the worker'),
  installation_source: z.string().default('ansible==4.10.0').describe('What pip installs'),
  ...INSTALLATION,
});

/** Properties of a playbook. */
export const PLAYBOOK_PROPERTIES = z.object({
  ...INSTALLATION,
  module_path: z.string().default('').describe('Folder with modules, in the blueprint or on the worker'),
  playbook_source_path: z.string().default('').describe('An archive or folder that playbook_path lies in'),
  playbook_path: z.string().default('').describe('The playbook, below the blueprint or playbook_source_path'),
  site_yaml_path: z.string().default('').describe('Older name of playbook_path'),
  additional_playbook_files: texts.describe('The only other files of the blueprint that the playbook gets'),
  sources: z
    .union([z.string(), anything])
    .default('')
    .describe('Inventory: a dictionary, YAML or INI, or a file of the blueprint'),
  run_data: anything.default({}).describe('Variables'),
  sensitive_keys: z.array(z.string()).default(['ansible_password']).describe('Names whose values are hidden'),
  options_config: anything.default({}).describe('Options of ansible-playbook, for instance skip_tags'),
  ansible_env_vars: anything
    .default({
      ANSIBLE_HOST_KEY_CHECKING: 'False',
      ANSIBLE_INVALID_TASK_ATTRIBUTE_FAILED: 'False',
      ANSIBLE_STDOUT_CALLBACK: 'json',
    })
    .describe('Environment of Ansible'),
  debug_level: z.int().default(2).describe('Number of -v'),
  log_stdout: z.boolean().default(true).describe('Tell each task in the log. False: only failures'),
  additional_args: z.string().default('').describe('Further arguments, for instance -c local'),
  start_at_task: z.string().default(''),
  scp_extra_args: z.string().default(''),
  sftp_extra_args: z.string().default(''),
  ssh_common_args: z.string().default(''),
  ssh_extra_args: z.string().default(''),
  timeout: z
    .union([z.string(), z.number()])
    .default('10')
    .describe('Seconds until a connection must be there'),
  save_playbook: z.boolean().default(false).describe('Without effect: the files of a run are always removed'),
  remerge_sources: z.boolean().default(false).describe('Take the values of hosts again before a run'),
  ansible_become: z.boolean().default(false),
  tags: texts.describe('Tags to run one after another'),
  auto_tags: z.boolean().default(false).describe('Run the tags of the playbook one after another'),
  number_of_attempts: z.int().min(1).default(3).describe('Attempts when hosts fail or cannot be reached'),
  store_facts: z.boolean().default(true).describe('Keep facts of hosts in the runtime property facts'),
});

/** Properties that the original does not have. Without a default, so that plans are the same. */
export const OWN_PROPERTIES = {
  heal_drift: z
    .boolean()
    .optional()
    .describe('check_status fails when the playbook would change something, so that heal runs it again'),
};

/** Inputs of a run. In the original, these properties are no inputs. */
const NO_INPUTS = [
  'ansible_external_venv',
  'module_path',
  'additional_playbook_files',
  'log_stdout',
  'ansible_become',
];
/** The relationship does not hand these over. */
const NO_RELATIONSHIP_INPUTS = [...NO_INPUTS, 'roles', 'number_of_attempts', 'store_facts'];

/** The inputs of a run: each has the value of the node by default. */
const inputsFrom = (left: readonly string[], call: string, subject: string): z.ZodObject<z.ZodRawShape> =>
  z.object(
    Object.fromEntries(
      Object.keys(PLAYBOOK_PROPERTIES.shape)
        .filter((name) => !left.includes(name))
        .map((name) => [name, defaultFrom(z.any().optional(), { [call]: [subject, name] })]),
    ),
  );

export const RUN_INPUTS = inputsFrom(NO_INPUTS, 'get_property', 'SELF');
export const RELATIONSHIP_INPUTS = inputsFrom(NO_RELATIONSHIP_INPUTS, 'get_attribute', 'SOURCE');

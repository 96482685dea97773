import { defaultFrom } from '@baton/plugin-sdk';
import * as z from 'zod';

const anything = z.record(z.string(), z.any());

/** Settings of a playbook, by the names of the Ansible plugin. */
export const SETTINGS = z.object({
  ansible_playbook_executable_path: z
    .string()
    .default('ansible-playbook')
    .describe('Program in the container'),
  playbook_source_path: z
    .string()
    .default('')
    .describe('An archive or folder of the blueprint, or an address, that playbook_path lies in'),
  playbook_path: z.string().default('').describe('The playbook, below the blueprint or playbook_source_path'),
  site_yaml_path: z.string().default('').describe('Older name of playbook_path'),
  additional_playbook_files: z
    .array(z.string())
    .default([])
    .describe('The only other files of the blueprint that the playbook gets'),
  sources: z
    .union([z.string(), anything])
    .default({})
    .describe('Inventory: a dictionary, its text, or a file of the blueprint'),
  run_data: anything.default({}).describe('Variables'),
  sensitive_keys: z.array(z.string()).default(['ansible_password']).describe('Names whose values are hidden'),
  options_config: anything.default({}).describe('Options of ansible-playbook, for instance skip_tags'),
  ansible_env_vars: anything
    .default({ ANSIBLE_HOST_KEY_CHECKING: 'False', ANSIBLE_INVALID_TASK_ATTRIBUTE_FAILED: 'False' })
    .describe('Stored as a runtime property, for the environment of the container'),
  debug_level: z.int().min(0).max(6).default(2).describe('Number of -v'),
  additional_args: z.string().default('').describe('Further arguments, for instance -c local'),
  save_playbook: z.boolean().default(false).describe('Without effect: files go with the node'),
  remerge_sources: z.boolean().default(false).describe('Without effect'),
  ansible_become: z.boolean().default(false).describe('Whether tasks run as root'),
});

export type Settings = z.output<typeof SETTINGS>;
export type SettingName = keyof Settings;

/** In the original these are no inputs. */
const NO_INPUTS: readonly SettingName[] = ['additional_playbook_files', 'ansible_become'];

/** The inputs of precreate: each has the value of the property by default. */
export const PRECREATE_INPUTS = z.object(
  Object.fromEntries(
    Object.keys(SETTINGS.shape)
      .filter((name) => !NO_INPUTS.includes(name as SettingName))
      .map((name) => [name, defaultFrom(z.any().optional(), { get_property: ['SELF', name] })]),
  ),
);

/** Runtime properties of the settings: precreate stores its inputs there. */
export const SETTINGS_RUNTIME = Object.fromEntries(
  Object.keys(SETTINGS.shape).map((name) => [name, z.any()]),
) as Record<SettingName, z.ZodAny>;

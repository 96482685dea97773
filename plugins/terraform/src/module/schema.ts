import { type NodeScope, sensitive } from '@baton/plugin-sdk';
import * as z from 'zod';

const SOURCE = z
  .union([
    z.string(),
    z.object({
      location: z.string(),
      username: z.string().optional(),
      password: z.string().optional(),
    }),
  ])
  .describe('Folder, zip or tar.gz of the blueprint, URL of such an archive, or a git repository');
export type Source = z.output<typeof SOURCE>;

const BACKEND = z.object({
  name: z.string().optional(),
  options: z.record(z.string(), z.any()).optional(),
  credentials: z.record(z.string(), z.any()).optional().describe('Environment variables for the backend'),
});
export type Backend = z.output<typeof BACKEND>;

const VALUES = z.record(z.string(), z.any());
const FLAG = z.union([z.string(), z.record(z.string(), z.any())]);

const RESOURCE_CONFIG = z.object({
  source: SOURCE,
  source_path: z.string().default('').describe('Folder of the module within the source'),
  backend: BACKEND.prefault({}).describe('Where the state is, when the module does not say it'),
  provider: z
    .object({ filename: z.string().default('provider.tf'), providers: z.array(z.any()).optional() })
    .prefault({}),
  required_providers: z
    .object({ filename: z.string().default('versions.tf.json'), required_providers: VALUES.optional() })
    .prefault({}),
  variables: VALUES.default({}),
  environment_variables: VALUES.default({}),
  flags_override: z
    .array(FLAG)
    .default([])
    .describe('Further flags: texts, or dictionaries of name and value'),
  log_stdout: z.boolean().default(true),
  tfvars: z.string().optional().describe('File of variables in the module, instead of variables'),
  store_output_secrets: z
    .record(z.string(), z.string())
    .optional()
    .describe('Names of secrets by the outputs that they keep'),
  obfuscate_sensitive: z.boolean().default(false).describe('Sensitive values are always masked'),
});

const LINTER = {
  installation_source: z.string().optional().describe('Not used: nothing is downloaded'),
  executable_path: z.string().optional().describe('The program. Without it: its name on the PATH'),
  enable: z.boolean().default(false),
};

export const LINTERS = {
  tflint: z.object({
    ...LINTER,
    config: z.any().optional(),
    flags_override: z.array(FLAG).default([{ loglevel: 'debug' }]),
    env: VALUES.optional(),
  }),
  tfsec: z.object({
    ...LINTER,
    config: z.any().optional(),
    flags_override: z.array(FLAG).default(['soft_fail']),
  }),
  terratag: z.object({ ...LINTER, tags: VALUES.default({}), flags_override: z.array(FLAG).default([]) }),
  infracost: z.object({ ...LINTER, api_key: z.string().default('') }),
  opa: z.object({
    ...LINTER,
    config: z.any().optional(),
    policy_bundles: z.any().optional(),
    flags_override: z.array(FLAG).default([]),
  }),
};

export const PROPERTIES = z.object({
  resource_config: RESOURCE_CONFIG,
  max_runtime_property_size: z
    .int()
    .default(1_000_000)
    .describe('Largest runtime property in characters of JSON'),
  max_stored_filesize: z.int().default(1_000_000).describe('Not used: files have the limit of the manager'),
  store_plugins_dir: z.boolean().default(false).describe('Not used: providers are not stored'),
  provider_upgrade: z.boolean().default(false).describe('init with -upgrade'),
  general_executor_process: VALUES.default({ max_sleep_time: 300 }).describe(
    'max_sleep_time: seconds after which a program that says nothing is ended',
  ),
  binary: z.string().optional().describe('The program: terraform, tofu, or a path. Default: terraform'),
  tflint_config: LINTERS.tflint.optional(),
  tfsec_config: LINTERS.tfsec.optional(),
  terratag_config: LINTERS.terratag.optional(),
  infracost_config: LINTERS.infracost.optional(),
  opa_config: LINTERS.opa.optional(),
});

export const RUNTIME = z.object({
  executable_path: z.string(),
  installation: z.any(),
  terraform_version: z.string(),
  plugins_dir: z.any(),
  storage_path: z.any(),
  last_source_location: z.string(),
  resource_config: z.any(),
  resources: z.any(),
  resources_by_address: z.any(),
  state: z.any(),
  outputs: z.any(),
  /** Values of the outputs that are sensitive, by name. */
  sensitive_outputs: sensitive(z.record(z.string(), z.any())),
  plan: z.any(),
  plain_text_plan: z.string(),
  is_drifted: z.boolean(),
  drifts: z.any(),
  /** Of the original: the module with its state, a zip in base64. Read once, and moved to files. */
  terraform_source: z.any(),
  opa_evaluation_result: z.any(),
  infracost: z.any(),
  plain_text_infracost: z.any(),
});

export type ModuleScope = NodeScope<typeof PROPERTIES, typeof RUNTIME, Record<string, unknown>>;
export type ModuleProperties = z.output<typeof PROPERTIES>;

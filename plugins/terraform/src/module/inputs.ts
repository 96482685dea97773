import * as z from 'zod';

const VALUES = z.record(z.string(), z.any());
const ofConfig = (name: string) => ({ get_property: ['SELF', 'resource_config', name] });
const LAST = { get_attribute: ['SELF', 'last_source_location'] };

const OVERRIDES = {
  source: z.any().default(LAST).describe('Another source. Without it the last one'),
  source_path: z.any().default(ofConfig('source_path')).describe('Folder of the module within the source'),
  variables: z.any().default(ofConfig('variables')),
  environment_variables: z.any().default(ofConfig('environment_variables')),
};

/** Inputs of update and of terraform.reload. */
export const RELOAD_INPUTS = z.object({
  ...OVERRIDES,
  destroy_previous: z.boolean().default(false).describe('Destroy what is there first'),
});

export const PLAN_INPUTS = z.object({
  source: z.any().default(ofConfig('source')),
  source_path: z.any().default(ofConfig('source_path')),
  force: z.any().default(false).describe('Of the original; a plan is always made anew'),
});

export const IMPORT_INPUTS = z.object({
  source: OVERRIDES.source,
  source_path: OVERRIDES.source_path,
  variables: VALUES.default({}),
  environment_variables: VALUES.default({}),
  resource_address: z.string().default('').describe('Where the resource stands in the module'),
  resource_id: z.string().default('').describe('Id of the resource at its provider'),
});

export const MIGRATE_INPUTS = z.object({
  backend: z.any().default(ofConfig('backend')),
  backend_config: VALUES.default({}).describe('Added to the options of the backend'),
});

const ofLinter = (name: string) => z.object({ [name]: z.any().default({ get_property: ['SELF', name] }) });
export const LINT_INPUTS = {
  tfsec: ofLinter('tfsec_config'),
  tflint: ofLinter('tflint_config'),
  terratag: ofLinter('terratag_config'),
  infracost: ofLinter('infracost_config'),
  opa: z.object({
    decision: z.string().default('terraform/deny'),
    opa_config: z.any().default({ get_property: ['SELF', 'opa_config'] }),
  }),
};

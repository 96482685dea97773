import type { NodeScope } from '@baton/plugin-sdk';
import * as z from 'zod';

export const HOST_PROPERTIES = z.object({
  terraform_config: z
    .object({
      executable_path: z.string().optional(),
      storage_path: z.string().optional().describe('Not used: operations have folders of their own'),
      plugins_dir: z.string().optional(),
    })
    .optional(),
  resource_config: z.object({
    use_existing_resource: z
      .boolean()
      .default(false)
      .describe('Use a program that the machines of the workers have'),
    installation_source: z
      .string()
      .default('https://releases.hashicorp.com/terraform/1.5.7/terraform_1.5.7_linux_amd64.zip'),
    sha256: z.string().optional().describe('SHA-256 of what installation_source answers'),
    plugins: z.any().default({}).describe('Not used: init installs providers'),
  }),
});

export const HOST_RUNTIME = z.object({
  executable_path: z.string(),
  plugins_dir: z.string(),
  installation: z.any(),
  terraform_version: z.string(),
});

export type HostScope = NodeScope<typeof HOST_PROPERTIES, typeof HOST_RUNTIME, Record<string, unknown>>;

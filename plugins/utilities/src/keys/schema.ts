import type { NodeScope } from '@baton/plugin-sdk';
import * as z from 'zod';

/** The public path that a blueprint has when it names none. All keys of a machine would share it, so nothing is written there. */
export const DEFAULT_PUBLIC_PATH = '~/.ssh/id_rsa.pub';

export const RESOURCE_CONFIG = z.object({
  private_key_path: z.string().optional().describe('File for the private key, on the machine of the worker'),
  public_key_path: z
    .string()
    .default(DEFAULT_PUBLIC_PATH)
    .describe('File for the public key. Nothing is written to the default'),
  key_name: z.string().optional().describe('Name of the two secrets, before _private and _public'),
  algorithm: z.string().default('RSA'),
  bits: z.int().min(1024).max(8192).default(2048),
  comment: z.string().optional().describe('Not implemented, as in the original'),
  passphrase: z.string().optional().describe('Refused: the key would not be protected by it'),
  openssh_format: z.boolean().optional().describe('Only true is supported'),
  unvalidated: z.any().optional().describe('Not implemented, as in the original'),
});

export const PROPERTIES = z.object({
  use_secret_store: z.boolean().default(true).describe('Keep the pair in two secrets of the manager'),
  use_secrets_if_exist: z
    .boolean()
    .default(false)
    .describe('Use the pair that the two secrets hold; a new pair when there are none'),
  key_name: z.string().optional().describe('Deprecated. Use resource_config.key_name'),
  resource_config: RESOURCE_CONFIG,
});

export const CREATE_INPUTS = z.object({
  store_public_key_material: z
    .boolean()
    .default(true)
    .describe('Keep the public key in the runtime property public_key_export'),
  store_private_key_material: z
    .boolean()
    .default(false)
    .describe(
      'Keep the private key in the runtime property private_key_export, which users of the tenant read',
    ),
});

export const RUNTIME = z.object({
  secret_key_name: z.string(),
  secrets_key_owner: z.boolean(),
  private_key_path: z.string(),
  public_key_path: z.string(),
  private_key_export: z.string(),
  public_key_export: z.string(),
  key_fingerprint: z.string(),
});

export type KeyScope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;

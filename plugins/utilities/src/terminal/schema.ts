import type { NodeScope } from '@baton/plugin-sdk';
import * as z from 'zod';

const texts = z.array(z.string()).default([]);

/** A question of a device, and the answer to it. */
const RESPONSE = z.object({
  question: z.string().min(1),
  answer: z.string().default(''),
  newline: z.boolean().default(false),
});

/** `terminal_auth`. The spelling of `promt_check` is that of the original. */
export const TERMINAL_AUTH = z.object({
  user: z.string().default('').describe('User for the login'),
  password: z.string().default('').describe('Password of the user'),
  ip: z
    .any()
    .default('')
    .describe('Address of the device, or several: the next one when a device does not answer'),
  key_content: z.string().default('').describe('Private key of the user, as text'),
  port: z.int().min(1).max(65_535).default(22),
  store_logs: z.boolean().default(false).describe('Whether the log shows everything that the device writes'),
  promt_check: texts.describe('Texts of which the prompt of the device holds one; default: # and $'),
  warnings: texts.describe('Beginnings of lines after which the command is repeated'),
  errors: texts.describe('Beginnings of lines that fail the operation, with another try'),
  criticals: texts.describe('Beginnings of lines that fail the operation for good'),
  responses: z.array(RESPONSE).optional().describe('Questions of the device, and their answers'),
  exit_command: z.string().default('exit').describe('Command that ends the login'),
  smart_device: z.boolean().default(false).describe('Whether each command gets a session of its own'),
  known_hosts: z
    .array(z.string())
    .optional()
    .describe('Fingerprints of the key of the device; none: any key is accepted'),
});

export const PROPERTIES = z.object({ terminal_auth: TERMINAL_AUTH.default(TERMINAL_AUTH.parse({})) });

/** A call: commands, and what to do with their output. What it leaves out comes from `terminal_auth`. */
export const CALL = z.object({
  action: z.string().optional(),
  template: z.string().optional(),
  template_text: z.string().optional(),
  params: z.record(z.string(), z.json()).nullish(),
  save_to: z.string().optional(),
  retry_count: z.int().min(1).max(1000).default(10),
  retry_sleep: z.number().min(0).max(3600).default(15),
  promt_check: z.array(z.string()).optional(),
  warnings: z.array(z.string()).optional(),
  errors: z.array(z.string()).optional(),
  criticals: z.array(z.string()).optional(),
  responses: z.array(RESPONSE).optional(),
});

export type TerminalAuth = z.output<typeof TERMINAL_AUTH>;
export type Call = z.output<typeof CALL>;
export type Response = z.output<typeof RESPONSE>;
export type TerminalScope = NodeScope<typeof PROPERTIES, z.ZodObject<Record<never, never>>>;

import * as z from 'zod';

/** Connection to the servers of an API: properties that all types of this folder have. */
export const CONNECTION = z.object({
  hosts: z
    .any()
    .default([])
    .describe('Names or addresses of servers. The next one is tried when one does not answer'),
  host: z.any().default([]).describe('Name or address of the server, when hosts is empty'),
  port: z.int().default(-1).describe('-1: 80, with ssl 443'),
  ssl: z.boolean().default(false).describe('https instead of http'),
  verify: z
    .any()
    .default(true)
    .describe(
      'Whether the certificate of the server is checked; or the certificate of its authority, as PEM or the path of a file',
    ),
  cert: z
    .any()
    .default(null)
    .describe('Certificate and private key of the client, as PEM or the path of a file'),
  timeout: z.any().default(null).describe('Seconds for one request'),
  proxies: z.any().default({}).describe('Addresses of proxies, by http and https'),
  params: z.any().default({}).describe('Variables of templates'),
});

export const REQUESTS_INPUTS = z.object({
  params: z
    .any()
    .default({})
    .describe('Variables of the template, before the runtime properties and those of the node'),
  template_file: z
    .string()
    .default('')
    .describe('File of the blueprint with the calls. Empty: nothing is called'),
  save_path: z
    .union([z.string(), z.literal(false)])
    .default(false)
    .describe(
      'Name of the runtime property for the result. False: the result is merged into the runtime properties',
    ),
  prerender: z
    .boolean()
    .default(false)
    .describe(
      'Render the whole file before it is read as YAML. False: each call is rendered when its turn comes',
    ),
  remove_calls: z.boolean().default(false).describe('Do not keep the rendered calls in runtime properties'),
  force_rerun: z.boolean().default(false).describe('Run an operation again that has ended before'),
  retry_count: z.int().default(1).describe('Tries in the operation after failures that may pass'),
  retry_sleep: z.number().default(15).describe('Seconds between these tries'),
});

export const BUNCH_INPUTS = z.object({
  auth: z.any().default({}).describe('Goes before the properties of the node, for instance hosts'),
  templates: z
    .any()
    .default({})
    .describe('List of template_file, save_to, params, params_attributes, prerender and remove_calls'),
});

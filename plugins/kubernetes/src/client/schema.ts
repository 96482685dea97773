import * as z from 'zod';

const text = (about: string) => z.string().optional().describe(about);
const PEM = 'PEM text, a file of the blueprint, or a file of the machine of the worker';

const API_OPTIONS = z.object({
  host: text('Address of the API, for instance https://10.0.0.1:6443'),
  ssl_ca_cert: text(`Authority of the server: ${PEM}`),
  cert_file: text(`Certificate of the client: ${PEM}`),
  key_file: text(`Key of cert_file: ${PEM}`),
  verify_ssl: z.union([z.boolean(), z.string()]).optional().describe('False: the server may be anybody'),
  api_key: text('Bearer token'),
  token: text('The same as api_key'),
  debug: z.boolean().optional().describe('Ignored'),
});

export const CONFIGURATION = z.object({
  blueprint_file_name: text('kubeconfig file of the blueprint'),
  manager_file_path: text('kubeconfig file of the machine of the worker'),
  file_content: z.any().optional().describe('Content of a kubeconfig file: text or dictionary'),
  api_options: API_OPTIONS.optional().describe('The parts of a kubeconfig, one by one'),
});

export const AUTHENTICATION = z.object({
  service_account_token: text('Token of a service account of the cluster'),
  gcp_service_account: text('Refused: needs the token service of Google Cloud'),
  azure_service_account: z.any().optional().describe('Refused: needs the API of Azure'),
  aws_access_key_id: text('Refused: needs the token service of AWS'),
  aws_secret_access_key: text('Refused: needs the token service of AWS'),
  aws_default_region: text('Refused: needs the token service of AWS'),
});

export const CLIENT_CONFIG = z.object({
  configuration: CONFIGURATION.optional(),
  authentication: AUTHENTICATION.optional(),
});

export type ClientConfig = z.output<typeof CLIENT_CONFIG>;
export type Configuration = z.output<typeof CONFIGURATION>;
export type Authentication = z.output<typeof AUTHENTICATION>;

import { CLIENT_CONFIG } from 'cloudify-kubernetes-plugin/cluster';
import * as z from 'zod';

const HELM_CONFIG = z.object({
  executable_path: z.string().default('').describe('Path of helm on the machine of the worker'),
});
export const helmConfig = HELM_CONFIG.prefault({});

const FLAGS_ABOUT = 'Flags of helm: a list of dictionaries with name, and value where the flag has one';
export const flagsOf = (about = '') => z.any().default([]).describe(`${FLAGS_ABOUT}${about}`);
export const setValues = z
  .any()
  .default([])
  .describe('Values: a list of dictionaries with name and value, as for --set');

export const RELEASE_CONFIG = z.object({
  name: z.string().min(1).describe('Name of the release'),
  chart: z
    .string()
    .min(1)
    .describe('repo/name, an https or oci address, or a file or folder of the blueprint'),
  values_file: z.string().optional().describe('File of the blueprint with values'),
  set_values: setValues,
  flags: flagsOf(' for install, upgrade and uninstall'),
});

export const REPO_CONFIG = z.object({
  name: z.string().min(1).describe('Name of the repository'),
  repo_url: z.string().min(1).describe('Address of the repository'),
  flags: flagsOf(': username, password, insecure-skip-tls-verify, pass-credentials'),
});

export const REGISTRY_CONFIG = z.object({
  host: z.string().optional().describe('Host of the registry, with its port'),
  ecr: z.any().default({}).describe('Refused: needs the API of AWS'),
  flags: flagsOf(': username, password, insecure'),
});

export const sleepTime = (seconds: number) =>
  z.int().min(1).default(seconds).describe('Seconds for which helm may write nothing');

export const clientConfig = CLIENT_CONFIG.optional().describe('How the cluster is reached');

/** What run_on_host copies from a node Binary. */
export const PROGRAM_RUNTIME = {
  executable_path: z.string(),
  installation_source: z.string(),
  installation_digest: z.string(),
};

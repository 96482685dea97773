import type { BaseScope } from '@baton/plugin-sdk';
import { stringify } from 'yaml';
import * as z from 'zod';
import { readFlags, valueOfFlag } from '../program/flags';
import { REGISTRY_CONFIG, REPO_CONFIG } from '../types/schema';

export type RepoConfig = z.output<typeof REPO_CONFIG>;
type RegistryConfig = z.output<typeof REGISTRY_CONFIG>;

/** Repositories and registries that a deployment declares. */
export interface DeclaredSources {
  repos: RepoConfig[];
  registries: RegistryConfig[];
}

const REPO = 'cloudify.nodes.helm.Repo';
const REGISTRY = 'cloudify.nodes.helm.Registry';
const NODES = z.object({
  items: z.array(
    z.looseObject({
      type_hierarchy: z.array(z.string()),
      properties: z.looseObject({ resource_config: z.unknown().optional() }),
    }),
  ),
});
const MAX_NODES = 1_000;

/**
 * Reads the nodes Repo and Registry of the deployment: an operation may run on a machine that has never seen them, so each operation
 * makes the files of helm anew.
 */
export async function sourcesOfDeployment({
  ctx,
  manager,
  hide,
}: Pick<BaseScope, 'ctx' | 'manager' | 'hide'>): Promise<DeclaredSources> {
  const query = { deployment_id: ctx.deployment.id, _evaluate_functions: true, _size: MAX_NODES };
  const { items } = NODES.parse(await manager().get('/nodes', { query }));
  const of = <T>(type: string, schema: z.ZodType<T>): T[] =>
    items.flatMap(({ type_hierarchy: types, properties }) => {
      const parsed = types.includes(type) ? schema.safeParse(properties.resource_config) : null;
      return parsed?.success ? [parsed.data] : [];
    });
  const sources = { repos: of(REPO, REPO_CONFIG), registries: of(REGISTRY, REGISTRY_CONFIG) };
  for (const { flags } of [...sources.repos, ...sources.registries]) {
    const password = valueOfFlag(readFlags('flags', flags), 'password');
    if (password !== undefined) hide(password);
  }
  return sources;
}

/** The file repositories.yaml of helm: passwords stand in it, and not on the command line. */
export function repositoriesFile(repos: readonly RepoConfig[]): string {
  return stringify({
    apiVersion: '',
    generated: '0001-01-01T00:00:00Z',
    repositories: repos.map(({ name, repo_url: url, flags: given }) => {
      const flags = readFlags(`the repository ${name}`, given);
      const has = (flag: string): boolean =>
        flags.some(({ name: one, value }) => one === flag && value !== 'false');
      return {
        name,
        url,
        username: valueOfFlag(flags, 'username') ?? '',
        password: valueOfFlag(flags, 'password') ?? '',
        insecure_skip_tls_verify: has('insecure-skip-tls-verify'),
        pass_credentials_all: has('pass-credentials'),
        caFile: '',
        certFile: '',
        keyFile: '',
      };
    }),
  });
}

/** The file of credentials of registries. */
export function registriesFile(registries: readonly RegistryConfig[]): string {
  const auths = registries.flatMap(({ host, flags: given }) => {
    const flags = readFlags('the registry', given);
    const [user, password] = [valueOfFlag(flags, 'username'), valueOfFlag(flags, 'password')];
    if (!host || user === undefined || password === undefined) return [];
    return [[host, { auth: Buffer.from(`${user}:${password}`).toString('base64') }]];
  });
  return JSON.stringify({ auths: Object.fromEntries(auths) });
}

import type { BaseScope } from '@baton/plugin-sdk';
import {
  type DeclaredSources,
  registriesFile,
  repositoriesFile,
  sourcesOfDeployment,
} from '../repo/deployment-repos';
import { searchPath } from './config';
import { findProgram, type ProgramChoice } from './find-program';
import { Helm } from './helm';
import { inPrivateFolder, type PrivateFolder } from './private-folder';

/** What the operations of all types need of their scope. */
export interface HelmScope extends Omit<BaseScope, 'step'> {
  readonly instanceId: string;
  readonly properties: Readonly<{ helm_config: { executable_path: string }; max_sleep_time: number }>;
  /** With the values of ProgramChoice, where run_on_host has put them. */
  readonly runtime: object;
  readonly inputs: Readonly<Record<string, unknown>>;
}

export interface OpenHelm {
  helm: Helm;
  folder: PrivateFolder;
  sources: DeclaredSources;
}

interface OpenOptions {
  /** Text of the file of the cluster. */
  kubeconfig?: string;
  /** Reads the repositories and registries of the deployment. */
  needsSources: boolean;
}

/** Runs `work` with a helm that knows the sources of the deployment and the cluster, and nothing else of the machine. */
export async function withHelm<T>(
  scope: HelmScope,
  { kubeconfig, needsSources }: OpenOptions,
  work: (open: OpenHelm) => Promise<T>,
): Promise<T> {
  const { properties } = scope;
  const runtime = scope.runtime as ProgramChoice;
  const program = await findProgram(
    scope,
    {
      executable_path: runtime.executable_path || properties.helm_config.executable_path,
      installation_source: runtime.installation_source,
      installation_digest: runtime.installation_digest,
    },
    searchPath(),
  );
  return await inPrivateFolder(async (folder) => {
    const sources = needsSources ? await sourcesOfDeployment(scope) : { repos: [], registries: [] };
    await folder.write('repositories.yaml', repositoriesFile(sources.repos));
    await folder.write('registry.json', registriesFile(sources.registries));
    const file = kubeconfig === undefined ? undefined : await folder.write('kubeconfig', kubeconfig);
    const silenceLimitMs = properties.max_sleep_time * 1000;
    const helm = new Helm(scope, { program, folder, kubeconfig: file, silenceLimitMs });
    return await work({ helm, folder, sources });
  });
}

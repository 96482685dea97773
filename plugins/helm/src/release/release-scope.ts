import type { ClientConfig } from 'cloudify-kubernetes-plugin/cluster';
import {
  type Connection,
  clusterConfigOf,
  KubeApi,
  resolveConnection,
} from 'cloudify-kubernetes-plugin/cluster';
import * as z from 'zod';
import { kubeconfigOf } from '../program/kubeconfig';
import { type HelmScope, type OpenHelm, withHelm } from '../program/open-helm';
import type { RELEASE_CONFIG } from '../types/schema';
import { type ReleaseConfig, releaseConfigOf } from './release-config';

/** The program is not here: heal removes what stands here, and only run_on_host sets that. */
export const RELEASE_RUNTIME = z.object({
  install_output: z
    .record(z.string(), z.unknown())
    .describe('What helm said of the last install or upgrade, without values'),
  status_output: z
    .record(z.string(), z.unknown())
    .describe('What helm said of the release last, without values'),
  kubernetes_status: z
    .record(z.string(), z.string())
    .describe('Objects of the release: ready, or what they wait for'),
  __helm_began: z.boolean(),
  __helm_upgrade: z.object({
    chart: z.string().optional(),
    values_file: z.string().optional(),
    flags: z.array(z.object({ name: z.string(), value: z.string().optional() })).optional(),
  }),
});

export interface ReleaseScope extends Omit<HelmScope, 'properties' | 'runtime'> {
  readonly properties: HelmScope['properties'] & {
    readonly use_external_resource: boolean;
    readonly client_config?: ClientConfig;
    readonly resource_config: z.output<typeof RELEASE_CONFIG>;
  };
  readonly runtime: Partial<z.output<typeof RELEASE_RUNTIME>>;
}

export interface OpenRelease extends OpenHelm {
  config: ReleaseConfig;
  api: KubeApi;
}

/** Runs `work` with the program, the cluster and the configuration of a release. */
export async function withRelease<T>(
  scope: ReleaseScope,
  work: (open: OpenRelease) => Promise<T>,
): Promise<T> {
  const connection: Connection = await resolveConnection(
    scope,
    await clusterConfigOf(scope, scope.properties.client_config),
  );
  const config = await releaseConfigOf(scope, {
    config: scope.properties.resource_config,
    stored: scope.runtime.__helm_upgrade,
    inputs: scope.inputs,
    contextNamespace: connection.namespace,
  });
  const api = new KubeApi(scope.http, connection, `baton:${scope.instanceId}`.slice(0, 128));
  const needsSources = /^[\w.-]+\/[\w.-]+$/.test(config.chart) || config.chart.startsWith('oci:');
  return await withHelm(scope, { kubeconfig: kubeconfigOf(connection), needsSources }, async (open) =>
    work({ ...open, config, api }),
  );
}

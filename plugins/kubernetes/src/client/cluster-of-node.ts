import { type BaseScope, FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';
import { AUTHENTICATION, CLIENT_CONFIG, type ClientConfig, CONFIGURATION } from './schema';

type Scope = Pick<BaseScope, 'ctx' | 'manager'> & { readonly inputs: Readonly<Record<string, unknown>> };

const MANAGED_BY_MASTER = 'cloudify.relationships.kubernetes.managed_by_master';
const SHARED_CLUSTERS = [
  'cloudify.relationships.kubernetes.connected_to_shared_cluster',
  'cloudify.relationships.helm.connected_to_shared_cluster',
];

const MASTER = z.object({
  items: z
    .array(
      z.object({
        properties: z.object({
          configuration: CONFIGURATION.nullish(),
          authentication: AUTHENTICATION.nullish(),
        }),
      }),
    )
    .min(1),
});
const SHARED = z.object({
  runtime_properties: z.object({
    'k8s-ip': z.string().min(1),
    'k8s-service-account-token': z.string().min(1),
    'k8s-cacert': z.string().optional(),
  }),
});

/**
 * How a node reaches its cluster: by the input client_config, its property, its node of the type Master, or the cluster that it shares
 * with another deployment; the first that is there.
 * @throws FatalError when there is none
 */
export async function clusterConfigOf(
  scope: Scope,
  property: ClientConfig | undefined,
): Promise<ClientConfig> {
  const { ctx, inputs } = scope;
  if (isFilled(inputs.client_config)) {
    const given = CLIENT_CONFIG.safeParse(inputs.client_config);
    if (given.success) return given.data;
    throw new FatalError(
      `inputs.client_config: ${given.error.issues.map(({ path }) => path.join('.')).join(', ')} is wrong`,
    );
  }
  if (isFilled(property?.configuration) || isFilled(property?.authentication)) return property!;
  for (const { typeHierarchy, targetNodeId, targetInstanceId } of (await ctx.instance()).relationships) {
    if (typeHierarchy.includes(MANAGED_BY_MASTER)) return await configOfMaster(scope, targetNodeId);
    if (SHARED_CLUSTERS.some((name) => typeHierarchy.includes(name)))
      return await configOfSharedCluster(scope, targetInstanceId);
  }
  throw new FatalError(
    `the node has no client_config, and no relationship ${MANAGED_BY_MASTER} or ${SHARED_CLUSTERS[0]}: it does not know its cluster`,
  );
}

/** The language fills in members without values. */
const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(isFilled)
    : value !== undefined && value !== null && value !== '';

async function configOfMaster({ ctx, manager }: Scope, id: string): Promise<ClientConfig> {
  const query = { deployment_id: ctx.deployment.id, id, _evaluate_functions: true };
  const found = MASTER.safeParse(await manager().get('/nodes', { query }));
  if (!found.success) throw new FatalError(`the node ${id} has no configuration of a cluster`);
  const { configuration, authentication } = found.data.items[0]!.properties;
  return { configuration: configuration ?? undefined, authentication: authentication ?? undefined };
}

async function configOfSharedCluster({ manager }: Scope, id: string): Promise<ClientConfig> {
  const path = `/node-instances/${encodeURIComponent(id)}`;
  const found = SHARED.safeParse(await manager().get(path, { query: { _evaluate_functions: true } }));
  if (!found.success)
    throw new FatalError(
      `the shared cluster ${id} has no runtime properties k8s-ip and k8s-service-account-token`,
    );
  const values = found.data.runtime_properties;
  return {
    configuration: {
      api_options: {
        host: values['k8s-ip'],
        api_key: values['k8s-service-account-token'],
        ssl_ca_cert: values['k8s-cacert'],
      },
    },
  };
}

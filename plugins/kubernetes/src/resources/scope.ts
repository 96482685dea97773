import type { BaseScope } from '@baton/plugin-sdk';
import * as z from 'zod';
import { clusterConfigOf } from '../client/cluster-of-node';
import { KubeApi } from '../client/kube-api';
import { resolveConnection } from '../client/resolve';
import { CLIENT_CONFIG } from '../client/schema';

export const OPTIONS = z.object({
  namespace: z.string().default('default').describe('Namespace of objects that name none'),
  grace_period_seconds: z.int().min(0).optional().describe('Time that pods have to end'),
  propagation_policy: z
    .enum(['Foreground', 'Background', 'Orphan'])
    .optional()
    .describe('What becomes of dependents'),
});

/** Properties of all types of resources. */
export const RESOURCE_BASE = {
  client_config: CLIENT_CONFIG.optional().describe(
    'How the cluster is reached; not needed with a Master or a shared cluster',
  ),
  allow_node_redefinition: z
    .boolean()
    .default(true)
    .describe('Objects may disappear from the node with an update'),
  use_external_resource: z
    .boolean()
    .default(false)
    .describe('The objects exist; they are neither changed nor removed'),
  create_if_missing: z
    .boolean()
    .default(false)
    .describe('Makes objects that should exist and do not; they are not removed'),
  use_if_exists: z
    .boolean()
    .default(true)
    .describe('Takes objects that exist already, and removes them on uninstall'),
  options: OPTIONS.prefault({}),
};

const REFERENCE = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
});

/** What the node has in the cluster. */
const KEPT = REFERENCE.extend({
  /** Key in `kubernetes`. */
  key: z.string().nullable(),
  /** made: by the node. taken: it was there. external: it is not removed. */
  origin: z.enum(['made', 'taken', 'external']),
});

export const RESOURCE_RUNTIME = z.object({
  kubernetes: z.record(z.string(), z.unknown()).describe('The last state, without values of secrets'),
  __kubernetes_objects: z.array(KEPT),
  __kubernetes_wait_since: z.number(),
});

export type Kept = z.output<typeof KEPT>;

export interface ResourceProperties {
  client_config?: z.output<typeof CLIENT_CONFIG>;
  allow_node_redefinition: boolean;
  use_external_resource: boolean;
  create_if_missing: boolean;
  use_if_exists: boolean;
  validate_resource_status: boolean;
  options: Omit<z.output<typeof OPTIONS>, 'propagation_policy'> & { propagation_policy?: string };
}

/** What the operations of all resources need of their scope. */
export interface ResourceScope extends Omit<BaseScope, 'step'> {
  readonly instanceId: string;
  readonly properties: Readonly<ResourceProperties>;
  readonly runtime: Partial<z.output<typeof RESOURCE_RUNTIME>>;
  readonly inputs: Readonly<Record<string, unknown>>;
}

const MAX_MANAGER = 128;

/** The name under which the fields of an instance belong to Baton: other instances that want the same fields get a conflict. */
export const managerOf = (instanceId: string): string => `baton:${instanceId}`.slice(0, MAX_MANAGER);

/** A client for the cluster of the node. */
export async function openApi(scope: ResourceScope): Promise<KubeApi> {
  const config = await clusterConfigOf(scope, scope.properties.client_config);
  return new KubeApi(scope.http, await resolveConnection(scope, config), managerOf(scope.instanceId));
}

/** Called by heal: what is there is repaired, and nothing of it is removed first. */
export const isHealing = ({ ctx }: Pick<ResourceScope, 'ctx'>): boolean =>
  ctx.operation.name.split('.').at(-1) === 'heal';

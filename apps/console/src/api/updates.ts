/** Updates of deployments: the preview, and the update itself. */
import type { Client, Schemas } from '@baton/client';
import { newId } from '@baton/kernel';
import { queryOptions } from '@tanstack/react-query';

const FIELDS = [
  'id',
  'state',
  'execution_id',
  'old_blueprint_id',
  'new_blueprint_id',
  'old_inputs',
  'new_inputs',
  'labels_to_create',
  'created_at',
  'changes',
] as const;

export type DeploymentUpdate = Pick<Schemas['ShownDeploymentUpdate'], (typeof FIELDS)[number]>;

export interface UpdateBody {
  blueprint_id: string;
  inputs: Record<string, unknown>;
  [flag: string]: unknown;
}

/** Starts an update or a preview. A preview answers when it is computed; an update answers immediately. @throws ApiError */
export const initiateUpdate = async (
  client: Client,
  tenant: string,
  deploymentId: string,
  body: UpdateBody & { preview?: boolean },
): Promise<DeploymentUpdate> =>
  await client.call('initiateDeploymentUpdateByPost', {
    tenant,
    params: { deployment_id: deploymentId },
    query: { _include: FIELDS.join(',') },
    body,
    idempotencyKey: newId(),
  });

export const updateQuery = (client: Client, tenant: string, deploymentId: string, id: string) =>
  queryOptions({
    queryKey: ['deployment', tenant, deploymentId, 'update', id],
    queryFn: async ({ signal }): Promise<DeploymentUpdate> =>
      await client.call('getDeploymentUpdate', {
        tenant,
        signal,
        params: { update_id: id },
        query: { _include: FIELDS.join(',') },
      }),
    // A computed preview never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });

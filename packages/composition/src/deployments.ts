import type { Schemas } from '@baton/client';
import { FatalError } from '@baton/plugin-sdk';
import type { Manager } from './manager';

export type Deployment = Schemas['Deployment'];

/** Uses a list query: it distinguishes a missing deployment from other refusals. */
export async function findDeployment({ client }: Manager, id: string): Promise<Deployment | null> {
  const { items } = await client.call('listDeployments', { query: { id } });
  return items[0] ?? null;
}

export async function readDeployment({ client }: Manager, id: string): Promise<Deployment> {
  return await client.call('getDeployment', { params: { id } });
}

type Condition = Pick<
  Deployment,
  | 'id'
  | 'installation_status'
  | 'deployment_status'
  | 'latest_execution_status'
  | 'unavailable_instances'
  | 'drifted_instances'
>;

/** Returns the problem of a deployment that should be well, in the words of the reference; null: no problem (8.1). */
export function complaintOf(deployment: Condition, isDriftCounted = true): string | null {
  const { id, installation_status, deployment_status, unavailable_instances, drifted_instances } = deployment;
  if (installation_status !== 'active')
    return `Expected deployment '${id}' to be installed, but got installation status: '${installation_status}'`;
  if (deployment_status !== 'good')
    return `Expected deployment '${id}' to be in a good state, but got deployment status: '${deployment_status}'`;
  if (deployment.latest_execution_status === 'failed') return `The latest execution for '${id}' failed`;
  if (unavailable_instances > 0)
    return `There are ${unavailable_instances} unavailable instances in deployment '${id}'`;
  if (isDriftCounted && drifted_instances > 0)
    return `There are ${drifted_instances} drifted instances in deployment '${id}'`;
  return null;
}

/** @throws FatalError with the problem of the deployment. */
export async function requireWell(manager: Manager, id: string, isDriftCounted = true): Promise<void> {
  const complaint = complaintOf(await readDeployment(manager, id), isDriftCounted);
  if (complaint !== null) throw new FatalError(complaint);
}

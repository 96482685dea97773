import type { Principal } from '@baton/contracts';
import { AppError, type Json, notFound } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';
import type { ExecutionsPort } from '../../adapters/executions.client';
import { instanceScope } from '../list-node-instances';

/** An agent of the caller's own tenant. */
export interface OwnAgent {
  tenant: string;
  name: string;
  node_instance_id: string;
  deployment_id: string;
  install_method: string | null;
  /** Of its host's node, as the blueprint has it: functions are not evaluated. */
  agent_config: Json;
}

/** Returns an agent of the caller's own tenant whose node instance the caller may see. @throws AppError not_found_error */
export async function requireOwnAgent(db: AnyQuery, principal: Principal, name: string): Promise<OwnAgent> {
  const { rows } = await sql<OwnAgent>`
    select a.tenant, a.name, a.node_instance_id, d.id as deployment_id, a.install_method,
      (select n.properties -> 'agent_config' from nodes n where n.deployment_key = ni.deployment_key and n.id = ni.node_id)
        as agent_config
    from agents a join node_instances ni on ni.id = a.node_instance_id and ni.tenant = a.tenant
      join deployments d on d.key = ni.deployment_key
    where a.tenant = ${principal.tenant} and a.name = ${name} and ${instanceScope(principal)}`.execute(db);
  if (!rows[0]) throw notFound('Agent', name);
  return rows[0];
}

/**
 * The token of an execution may change only agents of its own deployment: an operation must not take over other hosts. Other callers
 * may pass.
 * @throws AppError forbidden_error
 */
export async function requireOwnWork(
  executions: Pick<ExecutionsPort, 'active'>,
  { executionId, tenant }: Principal,
  deploymentId: string,
): Promise<void> {
  if (executionId === '') return;
  if ((await executions.active(tenant, deploymentId)).some(({ id }) => id === executionId)) return;
  throw new AppError(
    'forbidden_error',
    `The token of an execution may change agents of its own deployment only, not of \`${deploymentId}\``,
  );
}

import type { Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { readNodeInstance } from '../queries/list-node-instances';
import { type AgentInput, insertAgent, updateAgent } from '../store/agents.sql';

type Deps = Pick<ServiceDeps, 'db'>;

/**
 * Stores an agent of a node instance of the tenant. Returns false when the tenant has an agent of this name.
 * @throws AppError not_found_error
 */
export async function enterAgent(
  { db }: Deps,
  principal: Principal,
  name: string,
  agent: AgentInput,
): Promise<boolean> {
  const instance = await readNodeInstance(db.query, principal, agent.node_instance_id);
  if (!instance || instance.tenant_name !== principal.tenant)
    throw notFound('NodeInstance', agent.node_instance_id);
  return await db.tx((tx) => insertAgent(tx, principal, name, agent));
}

/** Changes an agent of the tenant; null and absent values stay unchanged. @throws AppError not_found_error */
export async function changeAgent(
  { db }: Deps,
  tenant: string,
  name: string,
  change: Parameters<typeof updateAgent>[3],
): Promise<void> {
  if (!(await db.tx((tx) => updateAgent(tx, tenant, name, change)))) throw notFound('Agent', name);
}

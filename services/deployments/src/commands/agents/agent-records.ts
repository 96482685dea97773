import type { Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import type { AnyTx } from '@baton/postgres';
import type { ServiceDeps } from '../../deps';
import { requireOwnAgent, requireOwnWork } from '../../queries/agents/own-agent';
import { readNodeInstance } from '../../queries/list-node-instances';
import { deleteAgent, type RefusedAgent, revokeAgent } from '../../store/agents/certificates.sql';
import { type AgentInput, insertAgent, updateAgent } from '../../store/agents/records.sql';
import { tellRevoked } from './tell-revoked';

type Deps = Pick<ServiceDeps, 'db' | 'executions'>;

/**
 * Stores an agent of a node instance of the tenant. Returns false when the tenant has an agent of this name.
 * @throws AppError not_found_error; forbidden_error for the token of an execution of another deployment
 */
export async function enterAgent(
  { db, executions }: Deps,
  principal: Principal,
  name: string,
  agent: AgentInput,
): Promise<boolean> {
  const instance = await readNodeInstance(db.query, principal, agent.node_instance_id);
  if (!instance || instance.tenant_name !== principal.tenant)
    throw notFound('NodeInstance', agent.node_instance_id);
  await requireOwnWork(executions, principal, String(instance.deployment_id));
  return await db.tx((tx) => insertAgent(tx, principal, name, agent));
}

/** Returns once the caller may change this agent of the tenant. @throws AppError not_found_error, forbidden_error */
export async function requireChangeable(
  { db, executions }: Deps,
  principal: Principal,
  name: string,
): Promise<void> {
  const { deployment_id } = await requireOwnAgent(db.query, principal, name);
  await requireOwnWork(executions, principal, deployment_id);
}

/** Changes an agent of the tenant; null and absent values stay unchanged. @throws AppError not_found_error, forbidden_error */
export async function changeAgent(
  deps: Deps,
  principal: Principal,
  name: string,
  change: Parameters<typeof updateAgent>[3],
): Promise<void> {
  await requireChangeable(deps, principal, name);
  if (!(await deps.db.tx((tx) => updateAgent(tx, principal.tenant, name, change))))
    throw notFound('Agent', name);
}

/**
 * Refuses all certificates of an agent; its stream is cut at the next report, and executions takes back what it had under way.
 * @throws AppError not_found_error, forbidden_error
 */
export async function refuseAgent(deps: Deps, principal: Principal, name: string): Promise<void> {
  await requireChangeable(deps, principal, name);
  const { tenant } = principal;
  await deps.db.tx(async (tx) => noteRefused(tx, tenant, name, await revokeAgent(tx, tenant, name)));
}

/** Deletes an agent; otherwise as refuseAgent. @throws AppError not_found_error, forbidden_error */
export async function removeAgent(deps: Deps, principal: Principal, name: string): Promise<void> {
  await requireChangeable(deps, principal, name);
  const { tenant } = principal;
  await deps.db.tx(async (tx) => noteRefused(tx, tenant, name, await deleteAgent(tx, tenant, name)));
}

/** An agent whose certificate was refused before is not told: another agent may have its address. */
async function noteRefused(
  tx: AnyTx,
  tenant: string,
  name: string,
  refused: RefusedAgent | null,
): Promise<void> {
  if (refused === null) throw notFound('Agent', name);
  if (refused.refused_at !== null)
    await tellRevoked(tx, tenant, refused.node_instance_id, refused.refused_at);
}

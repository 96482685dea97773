import type { Principal } from '@baton/contracts';
import type { AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

export interface AgentInput {
  node_instance_id: string;
  state: string;
  ip?: string | null;
  install_method?: string | null;
  system?: string | null;
  version?: string | null;
  rabbitmq_exchange?: string | null;
}

/** Inserts an agent; returns false when the tenant has an agent with this name. */
export async function insertAgent(
  tx: AnyTx,
  principal: Principal,
  name: string,
  agent: AgentInput,
): Promise<boolean> {
  const { rows } = await sql`
    insert into agents (tenant, name, node_instance_id, state, ip, install_method, system, version, rabbitmq_exchange, created_by)
    values (${principal.tenant}, ${name}, ${agent.node_instance_id}, ${agent.state}, ${agent.ip ?? null},
      ${agent.install_method ?? null}, ${agent.system ?? null}, ${agent.version ?? null}, ${agent.rabbitmq_exchange ?? null},
      ${principal.username})
    on conflict (tenant, name) do nothing returning name`.execute(tx);
  return rows.length > 0;
}

/** Updates an agent; returns false when the tenant has no agent with this name. Null and absent values stay unchanged. */
export async function updateAgent(
  tx: AnyTx,
  tenant: string,
  name: string,
  change: { state?: string; system?: string | null; version?: string | null },
): Promise<boolean> {
  const { rows } = await sql`
    update agents set state = coalesce(${change.state ?? null}, state), system = coalesce(${change.system ?? null}, system),
      version = coalesce(${change.version ?? null}, version), updated_at = app_now()
    where tenant = ${tenant} and name = ${name} returning name`.execute(tx);
  return rows.length > 0;
}

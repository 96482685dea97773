import { agentAddress, agentRevoked } from '@baton/contracts';
import { type AnyTx, outbox } from '@baton/postgres';

/** Tells executions that nothing counts any more of what the agent of a host has under way. @param revokedAt ISO instant */
export async function tellRevoked(
  tx: AnyTx,
  tenant: string,
  nodeInstanceId: string,
  revokedAt: string,
): Promise<void> {
  const agent = agentAddress(tenant, nodeInstanceId);
  await outbox.append(tx, agentRevoked, { tenant, key: agent }, { agent, revokedAt });
}

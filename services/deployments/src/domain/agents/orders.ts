import { agentsRpc } from '@baton/contracts';
import type { JsonObject } from '@baton/kernel';

/** What a report has found out about one agent (store/agents/report.sql.ts). */
interface Found {
  id: string;
  epoch: number;
  cut: string | null;
  trust: boolean;
  renew: boolean;
  upgrade: object | null;
  settings: unknown;
  /** Its record is being deleted, and nobody reaches its host but itself. */
  leave: boolean;
}

const { AgentOrderKind } = agentsRpc;

/** Makes the orders for the agents of a report. `trusted`: PEM of the authorities that agents trust. */
export function ordersOf(found: readonly Found[], trusted: string): agentsRpc.AgentOrder[] {
  return found.flatMap(({ id: agentId, epoch, cut, trust, renew, upgrade, settings, leave }) => {
    const order = (kind: agentsRpc.AgentOrderKind, detail: object) => ({
      agentId,
      kind,
      detailJson: JSON.stringify(detail),
    });
    if (cut !== null) return [order(AgentOrderKind.AGENT_ORDER_KIND_CUT, { reason: cut, epoch })];
    if (leave) return [order(AgentOrderKind.AGENT_ORDER_KIND_LEAVE, {})];
    return [
      ...(trust ? [order(AgentOrderKind.AGENT_ORDER_KIND_TRUST, { authorities: trusted, renew })] : []),
      ...(upgrade ? [order(AgentOrderKind.AGENT_ORDER_KIND_UPGRADE, upgrade)] : []),
      ...(settings ? [order(AgentOrderKind.AGENT_ORDER_KIND_SETTINGS, settings as JsonObject)] : []),
    ];
  });
}

import { markSilentAgents } from '../../commands/agents/report-agents';
import type { ServiceDeps } from '../../deps';

const INTERVAL_MS = 10_000;

/** Marks agents of gateways that died, and agents without a stream; at most 500 a tick, on every replica, which take different rows. */
export function markSilentAgentsLoop(deps: Pick<ServiceDeps, 'db' | 'log'>) {
  return { name: 'mark-silent-agents', intervalMs: INTERVAL_MS, tickOnce: () => markSilentAgents(deps) };
}

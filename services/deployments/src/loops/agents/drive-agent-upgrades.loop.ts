import { driveUpgrades } from '../../commands/agents/upgrades';
import type { ServiceDeps } from '../../deps';

const INTERVAL_MS = 10_000;

/** Takes the next step of upgrades of agents, on every replica, which take different tenants. */
export function driveAgentUpgradesLoop(deps: Pick<ServiceDeps, 'db' | 'log'>) {
  return { name: 'drive-agent-upgrades', intervalMs: INTERVAL_MS, tickOnce: () => driveUpgrades(deps) };
}

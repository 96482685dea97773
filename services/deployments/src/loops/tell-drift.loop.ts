import { tellDrift } from '../commands/tell-drift';
import type { ServiceDeps } from '../deps';

const INTERVAL_MS = 5_000;

/** Tells webhooks where configurations began or ceased to differ; on every replica, which take different rows. */
export function tellDriftLoop(deps: Pick<ServiceDeps, 'db'>) {
  return { name: 'tell-drift', intervalMs: INTERVAL_MS, tickOnce: () => tellDrift(deps) };
}

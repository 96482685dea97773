import type { Loop } from '@baton/service-runtime';
import type { Ports } from '../../ports';
import { tellStatusChanges } from '../commands/tell-status-changes';

const TICK_MS = 2_000;

/** Tells starts and ends of executions to webhooks; on every replica, which take different rows. */
export function webhookLoops(deps: Pick<Ports, 'db'>): Loop[] {
  return [{ name: 'tell-status-changes', intervalMs: TICK_MS, tickOnce: () => tellStatusChanges(deps) }];
}

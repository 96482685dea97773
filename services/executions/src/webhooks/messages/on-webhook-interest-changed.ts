import { webhookInterestChanged } from '@baton/contracts';
import { type ConsumerPart, consumerPart } from '@baton/service-runtime';
import type { Ports } from '../../ports';
import { noteListening } from '../commands/tell-status-changes';

/** Learns which tenants have webhooks for events of executions. A message that comes twice or late changes nothing. */
export function onWebhookInterestChanged(deps: Pick<Ports, 'db'>): ConsumerPart {
  return consumerPart(webhookInterestChanged, {
    queue: 'executions-webhooks',
    prefetch: 4,
    handler: ({ tenant, payload }) => noteListening(deps, tenant, payload),
  });
}

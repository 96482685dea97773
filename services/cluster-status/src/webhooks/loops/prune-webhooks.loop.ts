import type { Db } from '@baton/postgres';
import type { Loop } from '@baton/service-runtime';
import type { DB } from '../../store/tables.gen';
import { pruneWebhooks } from '../commands/prune-webhooks';

const INTERVAL_MS = 600_000;

/** Deletes old deliveries, on every replica; deleting twice is harmless. */
export function pruneWebhookDeliveries(deps: { db: Db<DB> }): Loop {
  return { name: 'prune-webhooks', intervalMs: INTERVAL_MS, tickOnce: () => pruneWebhooks(deps) };
}

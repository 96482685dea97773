/** Events of one deployment. */
import type { Client } from '@baton/client';
import { deploymentKeys } from './deployments';
import type { EventRow } from './events';
import { listOf } from './lists';
import type { ApiQuery } from './pages';

export type DeploymentEvent = EventRow & { workflow_id: string | null };

const events = listOf<DeploymentEvent>('events', 'listEvents', [
  '_storage_id',
  'timestamp',
  'level',
  'event_type',
  'message',
  'deployment_id',
  'deployment_display_name',
  'execution_id',
  'workflow_id',
  'node_instance_id',
]);

/** The key lies below the deployment's key, so every change of one of its executions reloads the events. */
export const deploymentEventsQuery = (
  client: Client,
  tenant: string,
  id: string,
  query: ApiQuery,
  offset: number,
) => ({
  ...events.page(client, tenant, query, offset),
  queryKey: [...deploymentKeys.one(tenant, id), 'events', query, offset] as readonly unknown[],
});

import type { Client } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { TRIGGERS } from './triggers';

interface Workflow {
  name: string;
  /** Names of its parameters. */
  parameters: string[];
}

/** Workflows of a deployment, also those that are unavailable now. */
export const workflowsQuery = (client: Client, tenant: string, deploymentId: string) =>
  queryOptions({
    queryKey: [TRIGGERS, tenant, 'workflows', deploymentId],
    queryFn: async ({ signal }): Promise<Workflow[]> =>
      (await client.call('listWorkflows', { tenant, signal, query: { id: deploymentId } })).items.flatMap(
        ({ name, parameters }) =>
          name === null ? [] : [{ name, parameters: Object.keys(parameters ?? {}) }],
      ),
  });

/** Reads and changes agents: their connections, certificates and versions. Only the answer to an enrolment has a secret. */
import type { AnswerOf, Client, Schemas } from '@baton/client';
import { type QueryKey, queryOptions } from '@tanstack/react-query';
import { deploymentKeys } from '../../api/deployments';
import { startExecution } from '../../api/executions';
import { listOf } from '../../api/lists';

export const AGENTS = 'agents';
/** No stream tells of agents, and their states change by themselves: shown ones are read again so often. */
export const AGENTS_POLL_MS = 5_000;

const ROW_FIELDS = [
  'name',
  'node_instance_id',
  'deployment_id',
  'tenant_name',
  'state',
  'install_method',
  'is_connected',
  'since',
  'last_seen',
  'certificate',
  'version',
  'wanted_version',
  'about',
] as const;
export type AgentRow = Pick<Schemas['AgentConnection'], (typeof ROW_FIELDS)[number]>;
/** The record of an agent, beside its connection. */
export type AgentRecord = AnswerOf<'getAgent'>;
export type Enrolment = AnswerOf<'enrolAgent'>;

export const agentList = listOf<AgentRow>(AGENTS, 'listAgentConnections', ROW_FIELDS);

export const agentQuery = (client: Client, tenant: string, name: string) =>
  queryOptions({
    queryKey: [AGENTS, tenant, 'one', name] as QueryKey,
    queryFn: async ({ signal }): Promise<AgentRow> =>
      await client.call('getAgentConnection', {
        tenant,
        signal,
        params: { name },
        query: { _include: ROW_FIELDS.join(',') },
      }),
    refetchInterval: AGENTS_POLL_MS,
  });

export const agentRecordQuery = (client: Client, tenant: string, name: string) =>
  queryOptions({
    queryKey: [AGENTS, tenant, 'record', name] as QueryKey,
    queryFn: async ({ signal }): Promise<Pick<AgentRecord, 'ip' | 'system' | 'node' | 'created_at'>> =>
      await client.call('getAgent', {
        tenant,
        signal,
        params: { name },
        query: { _include: 'ip,system,node,created_at' },
      }),
  });

/** Maximum of agents that the screens of a deployment read. */
const OF_DEPLOYMENT = 500;
export type DeploymentAgent = Pick<
  AgentRow,
  'name' | 'node_instance_id' | 'state' | 'is_connected' | 'certificate'
>;

/** Agents on the hosts of a deployment; read again with the other parts of the deployment. */
export const deploymentAgentsQuery = (client: Client, tenant: string, deploymentId: string) =>
  queryOptions({
    queryKey: [...deploymentKeys.one(tenant, deploymentId), AGENTS],
    queryFn: async ({ signal }): Promise<DeploymentAgent[]> =>
      (
        await client.call('listAgentConnections', {
          tenant,
          signal,
          query: {
            deployment_id: deploymentId,
            _include: 'name,node_instance_id,state,is_connected,certificate',
            _size: OF_DEPLOYMENT,
          },
        })
      ).items,
  });

const params = (name: string) => ({ name });

export const revokeAgent = (client: Client, tenant: string, name: string) =>
  client.call('revokeAgent', { tenant, params: params(name) });

export const deleteAgent = (client: Client, tenant: string, name: string) =>
  client.call('deleteAgent', { tenant, params: params(name) });

/** `names` empty: every agent of the tenant that has another version. */
export const upgradeAgents = (client: Client, tenant: string, names: string[]) =>
  client.call('upgradeAgents', { tenant, body: { names } });

/** Makes a one-time token and the install script that holds it; an older token of the agent stops to work. */
export const enrolAgent = (client: Client, tenant: string, name: string, network: string) =>
  client.call('enrolAgent', { tenant, params: params(name), body: network ? { network } : {} });

export type AgentWorkflow = 'validate_agents' | 'install_new_agents';

/** Starts a workflow for these hosts of one deployment. */
export const startAgentWorkflow = (
  client: Client,
  tenant: string,
  workflow: AgentWorkflow,
  deployment: string,
  instances: string[],
) =>
  startExecution(client, tenant, {
    deployment_id: deployment,
    workflow_id: workflow,
    parameters: { node_instance_ids: instances },
    queue: true,
  });

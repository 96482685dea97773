import { z } from 'zod';
import { defineRoutes, type ListContract } from '../route';
import { envelope, ownedFields, resourceId } from './deployments-shapes';
import { columnsOf } from './list-columns';

const agentStates = [
  'creating',
  'created',
  'configuring',
  'configured',
  'starting',
  'started',
  'stopping',
  'stopped',
  'deleting',
  'deleted',
  'restarting',
  'restarted',
  'restored',
  'upgrading',
  'upgraded',
  'nonresponsive',
  'failed',
] as const;
const installMethods = ['none', 'remote', 'init_script', 'provided', 'plugin'] as const;

const text = z.string().nullable();
/** Item of a list (spec v3.1 part 1 "Agent", reference/rest-api.md 5.15); `id` is the id of its node instance. */
const agentItem = z
  .object({
    id: z.string(),
    host_id: text,
    ip: text,
    install_method: text,
    system: text,
    version: text,
    node: z.string(),
    deployment: z.string(),
    state: z.string(),
    tenant_name: z.string(),
  })
  .meta({ id: 'AgentItem' });
/** One agent; the broker credentials are always null: workers have no own credentials here. */
const agent = agentItem
  .extend({
    ...ownedFields,
    name: z.string(),
    node_instance_id: z.string(),
    updated_at: z.string().nullable(),
    rabbitmq_username: z.null(),
    rabbitmq_password: z.null(),
    rabbitmq_exchange: text,
  })
  .meta({ id: 'Agent' });
/** Answer of a PUT with an existing name: no error, and an empty object. */
const nothing = z.record(z.string(), z.null());
export const agentFields = Object.keys(agent.shape);

const plain = columnsOf(agent);
/** Alternative names of a column in the original. */
const alike = ['deployment_id', 'node_id'];
const agentList: ListContract = {
  fields: agentFields,
  filters: [...plain, ...alike, 'node_ids', 'node_instance_ids', 'install_methods'],
  sorts: [...plain, ...alike],
  search: 'name',
  defaultSort: [{ field: 'created_at', descending: false }],
  allowsAllTenants: true,
  allowsGetAll: true,
};

const short = z.string().max(256).nullish();
const common = {
  owner: 'deployments',
  tenant: 'required',
  versions: ['v3.1'],
  status: 200,
  spec: 'v3.1-part1 Agents; reference 5.15',
  includeFields: agentFields,
} as const;
const params = z.object({ name: resourceId });

export const agentsRoutes = defineRoutes([
  {
    ...common,
    id: 'listAgents',
    method: 'GET',
    path: '/agents',
    permission: 'agent_list',
    summary: 'Agents that were installed by node instances',
    list: agentList,
    response: envelope(agentItem.loose()),
  },
  {
    ...common,
    id: 'replaceAgentCertificates',
    method: 'PATCH',
    path: '/agents',
    permission: 'agent_replace_certs',
    summary:
      'Gives agents other authorities to trust; answers how many there were, and refuses where there are any',
    spec: 'reference 5.15',
    includeFields: undefined,
    body: z.object({
      bundle: z.boolean(),
      broker_ca_cert: z.string().max(1_000_000).nullish(),
      manager_ca_cert: z.string().max(1_000_000).nullish(),
    }),
    response: z.object({ number_of_updated_agents: z.number().int() }),
  },
  {
    ...common,
    id: 'getAgent',
    method: 'GET',
    path: '/agents/:name',
    permission: 'agent_get',
    summary: 'One agent',
    params,
    response: agent,
  },
  {
    ...common,
    id: 'createAgent',
    method: 'PUT',
    path: '/agents/:name',
    permission: 'agent_create',
    summary: 'Enters an agent; one that is there already is left as it is and answered with nulls',
    params,
    isAllowedToExecution: true,
    body: z.object({
      node_instance_id: z.string().min(1),
      state: z.enum(agentStates),
      /** Accepted and ignored: agents have no broker users. */
      create_rabbitmq_user: z.boolean(),
      rabbitmq_exchange: short,
      ip: short,
      install_method: z.enum(installMethods).nullish(),
      system: short,
      version: short,
    }),
    response: z.union([agent, nothing]),
  },
  {
    ...common,
    id: 'updateAgent',
    method: 'PATCH',
    path: '/agents/:name',
    permission: 'agent_update',
    summary: 'Changes state, system or version of an agent',
    params,
    isAllowedToExecution: true,
    body: z.object({ state: z.enum(agentStates).optional(), system: short, version: short }),
    response: agent,
  },
]);

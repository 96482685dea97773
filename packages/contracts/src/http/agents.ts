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
/** `ssh` is Baton's own: no agent, a worker runs the host's operations over SSH. */
const installMethods = ['none', 'remote', 'init_script', 'provided', 'plugin', 'ssh'] as const;

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

/** The state of an agent's stream and certificate, beside its record. */
const connection = z
  .object({
    name: z.string(),
    node_instance_id: z.string(),
    deployment_id: z.string(),
    tenant_name: z.string(),
    state: z.string(),
    install_method: text,
    is_connected: z.boolean(),
    /** Start of the present stream, or end of the last one. */
    since: text,
    last_seen: text,
    /** Null before the enrolment. */
    certificate: z.object({ serial: z.string(), expires_at: z.string(), revoked_at: text }).nullable(),
    version: text,
    /** Version that it is being changed to; null: none. */
    wanted_version: text,
    /** AgentAbout as the agent told it last; null before its first stream. */
    about: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'AgentConnection' });
const connectionFields = Object.keys(connection.shape);
const connectionColumns = columnsOf(connection);

/** What the installer of an agent needs. The token is answered once and is stored as a digest only. */
const enrolment = z
  .object({
    name: z.string(),
    token: z.string(),
    expires_at: z.string(),
    /** Addresses of the manager as the host reaches it, the best first. */
    addresses: z.array(z.string()),
    /** PEM of the authorities that the agent trusts. */
    authorities: z.string(),
    /** The whole install script, for POSIX shells. */
    script: z.string(),
    /** Address from which the host can download the script while the token is good. */
    script_url: z.string(),
  })
  .meta({ id: 'AgentEnrolment' });

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
      'Makes a new authority for agents, or takes the given one; agents trust both until they have new certificates',
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
  {
    ...common,
    id: 'enrolAgent',
    method: 'POST',
    path: '/agents/:name/enrolment',
    permission: 'agent_create',
    summary:
      'Makes a one-time token for an agent, good for an hour, and the script that installs it; an older token falls',
    spec: 'reference agents.md 2 S4, S13',
    includeFields: undefined,
    params,
    isAllowedToExecution: true,
    body: z.object({
      /** Key of BATON_AGENTS_NETWORKS (`network` of agent_config). */
      network: z.string().max(256).default('default'),
      /** The script's own choices; `agent_config` of the host by its names. */
      options: z.record(z.string(), z.unknown()).default({}),
    }),
    response: enrolment,
  },
  {
    ...common,
    id: 'revokeAgent',
    method: 'POST',
    path: '/agents/:name/revoke',
    permission: 'agent_replace_certs',
    summary: 'Refuses every certificate of an agent from now on and cuts its stream',
    spec: 'reference agents.md 2 S6',
    params,
    response: agent,
  },
  {
    ...common,
    id: 'deleteAgent',
    method: 'DELETE',
    path: '/agents/:name',
    permission: 'agent_create',
    summary: 'Deletes the record of an agent; its certificates are refused from then on',
    spec: 'reference agents.md 2 S6',
    includeFields: undefined,
    params,
    isAllowedToExecution: true,
    response: z.object({ name: z.string() }),
  },
  {
    ...common,
    id: 'upgradeAgents',
    method: 'POST',
    path: '/agent-upgrades',
    permission: 'agent_replace_certs',
    summary:
      'Changes agents to the version that the manager serves, a tenth at a time; stops when agents fail',
    spec: 'reference agents.md 2 S14',
    includeFields: undefined,
    isAllowedToExecution: true,
    body: z.object({
      /** Names of agents; empty: all agents of the tenant that have another version. */
      names: z.array(resourceId).max(10_000).default([]),
    }),
    response: z.object({ number_of_agents: z.number().int(), version: z.string() }),
  },
  {
    ...common,
    id: 'listAgentConnections',
    method: 'GET',
    path: '/agent-connections',
    permission: 'agent_list',
    summary: 'Streams and certificates of agents',
    spec: 'reference agents.md 2 S10',
    includeFields: connectionFields,
    list: {
      fields: connectionFields,
      filters: connectionColumns.filter((field) => field !== 'certificate' && field !== 'about'),
      sorts: connectionColumns.filter((field) => field !== 'certificate' && field !== 'about'),
      search: 'name',
      defaultSort: [{ field: 'name', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
    response: envelope(connection),
  },
  {
    ...common,
    id: 'getAgentConnection',
    method: 'GET',
    path: '/agent-connections/:name',
    permission: 'agent_get',
    summary: 'The stream and the certificate of one agent',
    spec: 'reference agents.md 2 S10',
    includeFields: connectionFields,
    params,
    isAllowedToExecution: true,
    response: connection,
  },
]);

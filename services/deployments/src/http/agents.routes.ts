import type { Principal } from '@baton/contracts';
import { agentFields, agentsRoutes } from '@baton/contracts/http/agents';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { notFound } from '@baton/kernel';
import {
  changeAgent,
  enterAgent,
  refuseAgent,
  removeAgent,
  requireChangeable,
} from '../commands/agents/agent-records';
import { replaceAuthority } from '../commands/agents/authorities';
import { type EnrolmentDeps, makeEnrolment } from '../commands/agents/enrolment';
import { startUpgrade } from '../commands/agents/upgrades';
import type { ServiceDeps } from '../deps';
import { findConnection, listConnections } from '../queries/agents/connections';
import { findAgent, listAgents } from '../queries/agents/list-agents';

export type AgentsHttpDeps = EnrolmentDeps & Pick<ServiceDeps, 'executions'>;

/** Agents (spec v3.1 part 1 "Agents", reference/rest-api.md 5.15, reference/agents.md 2). */
export function agentsHttp(deps: AgentsHttpDeps): BoundRoute[] {
  const { db } = deps;
  const read = async (principal: Principal, name: string) => {
    const found = await findAgent(db.query, principal, name);
    if (!found) throw notFound('Agent', name);
    return found;
  };
  return bindRoutes(agentsRoutes, {
    listAgents: async ({ principal, list }) =>
      listEnvelope(await listAgents(db.query, principal, list), list),
    replaceAgentCertificates: async ({ body }) => ({
      number_of_updated_agents: await replaceTrust(deps, body),
    }),
    getAgent: ({ principal, params }) => read(principal, params.name!),
    async createAgent({ principal, params, body }) {
      const name = params.name!;
      const isNew = await enterAgent(deps, principal, name, body);
      // For an agent that exists the original answers an object of nulls, which its installers take for success.
      return isNew ? read(principal, name) : Object.fromEntries(agentFields.map((field) => [field, null]));
    },
    async updateAgent({ principal, params, body }) {
      const name = params.name!;
      await changeAgent(deps, principal, name, body);
      return read(principal, name);
    },
    async enrolAgent({ principal, params, body }) {
      const name = params.name!;
      await requireChangeable(deps, principal, name);
      return await makeEnrolment(deps, principal, name, body);
    },
    async revokeAgent({ principal, params }) {
      const name = params.name!;
      await refuseAgent(deps, principal, name);
      return read(principal, name);
    },
    async deleteAgent({ principal, params }) {
      const name = params.name!;
      await removeAgent(deps, principal, name);
      return { name };
    },
    upgradeAgents: ({ principal, body }) => startUpgrade(deps, principal, body.names),
    listAgentConnections: async ({ principal, list }) =>
      listEnvelope(await listConnections(db.query, principal, list), list),
    async getAgentConnection({ principal, params }) {
      const found = await findConnection(db.query, principal, params.name!);
      if (!found) throw notFound('Agent', params.name!);
      return found;
    },
  });
}

interface Replacement {
  broker_ca_cert?: string | null | undefined;
  manager_ca_cert?: string | null | undefined;
}

/** Agents have no broker: only its authority given, nothing is to be replaced. */
async function replaceTrust(
  deps: AgentsHttpDeps,
  { broker_ca_cert: broker, manager_ca_cert: manager }: Replacement,
): Promise<number> {
  if (manager === undefined || manager === null) return broker ? 0 : await replaceAuthority(deps, null);
  return await replaceAuthority(deps, manager);
}

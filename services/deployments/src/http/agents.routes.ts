import type { Principal } from '@baton/contracts';
import { agentFields, agentsRoutes } from '@baton/contracts/http/agents';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { AppError, notFound } from '@baton/kernel';
import { outsideRequests } from '@baton/postgres';
import { changeAgent, enterAgent } from '../commands/agents';
import type { ServiceDeps } from '../deps';
import { countAgents, findAgent, listAgents } from '../queries/agents';

/** Agents (spec v3.1 part 1 "Agents", reference/rest-api.md 5.15). */
export function agentsHttp({ db }: ServiceDeps): BoundRoute[] {
  const read = async (principal: Principal, name: string) => {
    const found = await findAgent(db.query, principal, name);
    if (!found) throw notFound('Agent', name);
    return found;
  };
  return bindRoutes(agentsRoutes, {
    listAgents: async ({ principal, list }) =>
      listEnvelope(await listAgents(db.query, principal, list), list),
    async replaceAgentCertificates() {
      const count = await outsideRequests(() => countAgents(db.query));
      if (count === 0) return { number_of_updated_agents: 0 };
      throw new AppError(
        'illegal_action_error',
        `The manager has no connection to agents: the ${count} that are entered must be given certificates where they run`,
        { agents: count },
      );
    },
    getAgent: ({ principal, params }) => read(principal, params.name!),
    async createAgent({ principal, params, body }) {
      const name = params.name!;
      const isNew = await enterAgent({ db }, principal, name, body);
      // For an agent that exists the original answers an object of nulls, which its installers take for success.
      return isNew ? read(principal, name) : Object.fromEntries(agentFields.map((field) => [field, null]));
    },
    async updateAgent({ principal, params, body }) {
      const name = params.name!;
      await read(principal, name);
      await changeAgent({ db }, principal.tenant, name, body);
      return read(principal, name);
    },
    enrolAgent: notYet,
    revokeAgent: notYet,
    deleteAgent: notYet,
    upgradeAgents: notYet,
    listAgentConnections: notYet,
    getAgentConnection: notYet,
  });
}

/** TEMPORARY on this branch: the part agents-records replaces it. */
const notYet = (): never => {
  throw new AppError('service_unavailable_error', 'not built yet');
};

import type { Principal } from '@baton/contracts';
import type { JsonObject } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import type { SecretsPort } from '../../adapters/secrets.client';
import { flatConfig } from '../../domain/agents/agent-settings';
import { readDeployment } from '../../store/deployments.sql';
import { behalfOf } from '../evaluate-outputs';
import { evaluatePayload } from '../evaluate-payload';
import type { OwnAgent } from './own-agent';

/** How a worker logs in: no script needs it, and nothing reads those secrets for one. */
const LOGIN = ['key', 'password'];

/**
 * Returns `agent_config` of an agent's host, with `extra` beside the others: what the caller gives goes before what the blueprint says,
 * whose functions are evaluated on behalf of the caller.
 * @throws AppError functions_evaluation_error; not_found_error for a missing secret
 */
export async function hostConfig(
  deps: { db: AnyQuery; secrets: SecretsPort },
  principal: Principal,
  agent: OwnAgent,
  given: JsonObject,
): Promise<JsonObject> {
  const options = flatConfig(given);
  const planned = Object.entries(flatConfig(agent.agent_config)).filter(
    ([name]) => !(name in options) && !LOGIN.includes(name),
  );
  const row = await readDeployment(deps.db, agent.tenant, agent.deployment_id);
  if (!row) return options;
  const context = { self: agent.node_instance_id };
  const own = await evaluatePayload(deps, row, behalfOf(principal), Object.fromEntries(planned), context);
  return { ...own, ...options };
}

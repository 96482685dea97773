import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { type AgentContext, FatalError } from '@baton/plugin-sdk';
import type { AgentScript } from '../host';
import type { OperationSession } from './session';

/**
 * Makes the agent's record and its install script, once for a run: a second script would spoil the token of the first one.
 * @throws FatalError where there is no node instance, or no worker of the manager
 */
export function agentScriptOf(session: OperationSession, config: Json | undefined): Promise<AgentScript> {
  session.agentScript ??= ask(session, config);
  return session.agentScript;
}

async function ask(session: OperationSession, given: Json | undefined): Promise<AgentScript> {
  await session.own();
  const config = given ?? {};
  if (!isJsonObject(config)) throw new FatalError('ctx.agent: agent_config must be a dictionary');
  if (session.host.agentScript === undefined)
    throw new FatalError('ctx.agent is offered by workers of the manager, not at a host or over SSH');
  return await session.host.agentScript(config);
}

/** `ctx.agent` of operations in TypeScript, and of scripts: what the record says is stored with the instance. */
export function agentContext(session: OperationSession): AgentContext {
  const made = async (config: Json | undefined): Promise<AgentScript> => {
    const script = await agentScriptOf(session, config);
    const { instance } = await session.own();
    instance.runtimeProperties = withFacts(instance.runtimeProperties, script.facts);
    return script;
  };
  return {
    initScript: async (config) => (await made(config)).script,
    installScriptDownloadLink: async (config) => (await made(config)).link,
  };
}

function withFacts(runtime: JsonObject, facts: JsonObject): JsonObject {
  const before = runtime.cloudify_agent;
  return { ...runtime, cloudify_agent: { ...(isJsonObject(before) ? before : {}), ...facts } };
}

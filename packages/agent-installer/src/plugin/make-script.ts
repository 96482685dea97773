import { createClient } from '@baton/client';
import type { Json, JsonObject } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { agentConfigOf, text } from './agent-config';
import { createRecord, enrol, factsOf } from './records';
import { failureOf } from './scope';

/** A host for which `ctx.agent` makes a script. */
export interface AgentScriptHost {
  tenant: string;
  executionToken: string;
  /** With their functions evaluated. */
  properties: JsonObject;
  instance: { id: string; runtimeProperties: JsonObject };
  /** Of the caller; goes before that of the node. */
  agentConfig: JsonObject;
}

/** Makes the record and the install script of an agent whose host is yet to come: ctx.agent.init_script(). @throws FatalError */
export async function makeAgentScript(
  managerUrl: string,
  { tenant, executionToken, properties, instance, agentConfig }: AgentScriptHost,
): Promise<{ script: string; link: string; facts: JsonObject }> {
  const { id, runtimeProperties: runtime } = instance;
  const config = agentConfigOf({ properties, runtime, inputs: { agent_config: agentConfig }, id });
  if (config.method === 'none' || config.method === 'ssh' || config.isProxied)
    throw new FatalError(
      `ctx.agent: the host ${id} gets no agent (${config.isProxied ? 'extra.proxy' : `install_method: ${config.method}`}); expected ` +
        'agent_config.install_method: init_script, plugin or provided',
    );
  if (config.isWindows)
    throw new FatalError('ctx.agent: os_family is windows, and there is no agent for Windows');
  const client = createClient({ baseUrl: managerUrl, token: executionToken, tenant });
  const ip = text(config.values, 'ip') ?? addressOf(runtime.ip) ?? addressOf(properties.ip) ?? null;
  const source = { client, config, instanceId: id, ip };
  try {
    await createRecord(source);
    const { script, scriptUrl: link } = await enrol(source);
    return { script, link, facts: { ...factsOf(source), install_script_download_link: link } };
  } catch (thrown) {
    throw failureOf(thrown);
  }
}

const addressOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

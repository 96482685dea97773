import type { Client } from '@baton/client';
import type { JsonObject } from '@baton/kernel';
import { type AgentConfig, enrolmentOptions } from './agent-config';
import { isMissing, type Scope, saveFacts } from './scope';

type AgentState =
  | 'creating'
  | 'created'
  | 'starting'
  | 'started'
  | 'stopping'
  | 'stopped'
  | 'deleting'
  | 'failed'
  | 'nonresponsive'
  | 'upgrading'
  | 'upgraded'
  | 'restarting'
  | 'restarted';

/** Changes the state of the record; a record that is gone is no failure. */
export async function setState({ client, config, ctx }: Scope, state: AgentState): Promise<void> {
  try {
    await client.call('updateAgent', { params: { name: config.name }, body: { state } });
  } catch (error) {
    if (!isMissing(error)) throw error;
    ctx.logger.debug(`agent ${config.name} has no record (state ${state})`);
  }
}

/** What a record is made from. */
export interface RecordSource {
  client: Client;
  config: AgentConfig;
  instanceId: string;
  /** Null: the host has no address yet. */
  ip: string | null;
}

/** Makes the record unless it is there. @returns whether it was there. A process that dies here finds it on its next run. */
export async function createRecord({ client, config, instanceId, ip }: RecordSource): Promise<boolean> {
  const made = await client.call('createAgent', {
    params: { name: config.name },
    body: {
      node_instance_id: instanceId,
      state: 'creating',
      create_rabbitmq_user: false,
      ip,
      install_method: config.method,
    },
  });
  return (made as { name?: unknown }).name !== config.name;
}

/** As createRecord, and writes down what blueprints read of an agent. */
export async function putRecord(scope: Scope): Promise<boolean> {
  const { client, config, instance } = scope;
  const source = { client, config, instanceId: instance.id, ip: await ipOf(scope) };
  const wasThere = await createRecord(source);
  await saveFacts(scope, factsOf(source));
  return wasThere;
}

/** What blueprints read of an agent (reference/workflows.md 7.1); there is no broker here. */
export function factsOf({ config, instanceId, ip }: Omit<RecordSource, 'client'>): JsonObject {
  const { user, process_management: kind } = config.values;
  return {
    name: config.name,
    queue: config.name,
    ip,
    ...(user !== undefined && { user }),
    install_method: config.method,
    network: config.network,
    windows: config.isWindows,
    node_instance_id: instanceId,
    process_management: kind ?? { name: 'auto' },
  };
}

/** Null: the host has no address yet. */
async function ipOf({ instance, config }: Scope): Promise<string | null> {
  const { ip } = config.values;
  if (typeof ip === 'string') return ip;
  return await instance.hostIp().catch(() => null);
}

interface Enrolment {
  script: string;
  scriptUrl: string;
}

/** Makes a new token and its script; an older token falls. The script holds the token and is never logged. */
export async function enrol({ client, config }: Pick<Scope, 'client' | 'config'>): Promise<Enrolment> {
  const { script, script_url } = await client.call('enrolAgent', {
    params: { name: config.name },
    body: { network: config.network, options: enrolmentOptions(config) },
  });
  return { script, scriptUrl: script_url };
}

export interface Connection {
  isConnected: boolean;
  state: string;
  version: string | null;
  wantedVersion: string | null;
  lastSeen: string | null;
  upgrade: JsonObject | null;
  processManagement: string | null;
}

/** @returns null when the agent has no record */
export async function connectionOf({ client, config }: Scope): Promise<Connection | null> {
  try {
    const found = await client.call('getAgentConnection', { params: { name: config.name } });
    const about = (found.about ?? {}) as { upgrade?: JsonObject | null; processManagement?: string };
    return {
      isConnected: found.is_connected,
      state: found.state,
      version: found.version,
      wantedVersion: found.wanted_version,
      lastSeen: found.last_seen,
      upgrade: about.upgrade ?? null,
      processManagement: about.processManagement ?? null,
    };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Deletes the record: every certificate of the agent is refused from then on. */
export async function deleteRecord({ client, config }: Scope): Promise<void> {
  await client.call('deleteAgent', { params: { name: config.name } }).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
}

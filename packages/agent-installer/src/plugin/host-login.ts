import { type Client, createClient } from '@baton/client';
import type { JsonObject } from '@baton/kernel';
import { FatalError, type OperationLogger } from '@baton/plugin-sdk';
import type { ConnectOptions } from '@baton/plugin-sdk/ssh';
import { agentConfigOf, text } from './agent-config';
import { HOST_KEYS, loginOf } from './login';
import { failureOf, objectOf, type Reach } from './scope';

/** The host of an operation, and the rights to read it. */
export interface LoginHost {
  tenant: string;
  executionToken: string;
  deploymentId: string;
  hostInstanceId: string;
  reach: Reach;
  log: Pick<OperationLogger, 'info' | 'debug'>;
  /** Told the key and the password before they are used. */
  hide(secrets: unknown[]): void;
}

/** A login at the host of an operation (install_method: ssh). */
export interface HostLogin {
  connect: ConnectOptions;
  tempDir: string | null;
  connected(): Promise<void>;
}

const CONNECT_MS = 20_000;

/** Reads `agent_config` of the host by the API, with its functions evaluated. @throws FatalError that names what is missing */
export async function readHostLogin(managerUrl: string, host: LoginHost): Promise<HostLogin> {
  const { tenant, executionToken: token, hostInstanceId: id, log } = host;
  const client = createClient({ baseUrl: managerUrl, token, tenant });
  try {
    const { properties, runtime, nodeId } = await readHost(client, host);
    const { values } = agentConfigOf({ properties, runtime, inputs: {}, id });
    host.hide([values.key, values.password]);
    let seen: JsonObject | null = null;
    const login = await loginOf({
      values,
      hostIp: async () => addressOf(runtime, properties, id),
      nodeId,
      reach: host.reach,
      runtime,
      log,
      remember: (keys) => {
        seen = keys;
      },
    });
    return {
      connect: { ...login, connectTimeoutMs: CONNECT_MS },
      tempDir: text(values, 'executable_temp_path') ?? null,
      connected: async () => {
        if (seen !== null) await storeKeys(client, id, seen);
      },
    };
  } catch (thrown) {
    throw failureOf(thrown);
  }
}

async function readHost(
  client: Client,
  { deploymentId, hostInstanceId: id }: LoginHost,
): Promise<{ properties: JsonObject; runtime: JsonObject; nodeId: string }> {
  const instance = await client.call('getNodeInstance', { params: { id } });
  const { items } = await client.call('listNodes', {
    query: {
      deployment_id: deploymentId,
      id: instance.node_id,
      _evaluate_functions: true,
      _instance_context: id,
    },
  });
  const node = items[0];
  if (node === undefined) throw new FatalError(`the node ${instance.node_id} of the host ${id} is gone`);
  return {
    properties: objectOf(node.properties as JsonObject),
    runtime: objectOf(instance.runtime_properties as JsonObject),
    nodeId: instance.node_id,
  };
}

function addressOf(runtime: JsonObject, properties: JsonObject, id: string): string {
  const ip = runtime.ip || properties.ip;
  if (typeof ip === 'string' && ip !== '') return ip;
  throw new FatalError(
    `could not get the address of the host ${id}: neither its runtime property 'ip' nor the property 'ip' of its node is set`,
  );
}

/** Another operation may store the same key at the same time, or another property: then the next login remembers it. */
async function storeKeys(client: Client, id: string, keys: JsonObject): Promise<void> {
  const { version, runtime_properties: runtime } = await client.call('getNodeInstance', { params: { id } });
  const properties = { ...objectOf(runtime as JsonObject), [HOST_KEYS]: keys };
  await client
    .call('patchNodeInstance', { params: { id }, body: { version, runtime_properties: properties } })
    .catch((error: unknown) => {
      if (!(error instanceof Error && 'status' in error && error.status === 409)) throw error;
    });
}

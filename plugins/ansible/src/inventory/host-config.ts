import { FatalError, type SideContext } from '@baton/plugin-sdk';
import type { HostConfig } from './sources';

const COMPUTE = 'cloudify.nodes.Compute';
const ANY_HOST_KEY = '-o StrictHostKeyChecking=no';

/** A node instance that may be a host. */
export interface HostValues {
  instanceId: string;
  nodeId: string;
  type: string;
  typeHierarchy: readonly string[];
  properties: Readonly<Record<string, unknown>>;
  runtime: Readonly<Record<string, unknown>>;
}

export const valuesOf = ({ node, instance }: SideContext): HostValues => ({
  instanceId: instance.id,
  nodeId: node.id,
  type: node.type,
  typeHierarchy: node.typeHierarchy,
  properties: node.properties,
  runtime: instance.runtimeProperties,
});

export const isCompute = ({ typeHierarchy }: Pick<HostValues, 'typeHierarchy'>): boolean =>
  typeHierarchy.includes(COMPUTE);

/**
 * What Ansible needs to know of a host: its address, and how to log in by `agent_config`. Password and key are references, which
 * may be stored.
 * @throws FatalError for an address or user that Ansible would take for something else
 */
export function hostConfigOf({ nodeId, properties, runtime }: HostValues): HostConfig {
  const agent = (properties.agent_config ?? {}) as Readonly<Record<string, unknown>>;
  const secret = (name: string): unknown =>
    agent[name] === undefined || agent[name] === null || agent[name] === ''
      ? undefined
      : { get_property: [nodeId, 'agent_config', name] };
  const values: Record<string, unknown> = {
    ansible_host: runtime.ip ?? properties.ip,
    ansible_user: agent.user,
    ansible_port: agent.port,
    ansible_ssh_pass: secret('password'),
    ansible_ssh_private_key_file: secret('key'),
    ansible_ssh_common_args: ANY_HOST_KEY,
    ansible_become: properties.ansible_become ?? true,
  };
  for (const name of ['ansible_host', 'ansible_user', 'ansible_port'])
    requirePlain(nodeId, name, values[name]);
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  );
}

/** An address may come from a machine or a cloud: it must be neither a template, which would run here, nor an option of ssh. */
function requirePlain(nodeId: string, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (!/^[\w.:%@\\/-]*$/.test(String(value)) || String(value).startsWith('-'))
    throw new FatalError(
      `${name} of ${nodeId} is ${JSON.stringify(String(value).slice(0, 100))}; expected letters, digits and . : - _ @, with no - at its beginning`,
    );
}

/**
 * Group and name of a host: as given, else the type of the node and the id of the instance.
 * @throws FatalError when nothing is given and the node is no machine
 */
export function groupAndName(
  host: HostValues,
  group: unknown,
  name: unknown,
): { group: string; name: string } {
  if (!group && !name && !isCompute(host))
    throw new FatalError(
      `there is no inventory: ${host.nodeId} is no ${COMPUTE}. Give sources, or group_name and hostname of a relationship connected_to_host`,
    );
  return { group: String(group || host.type), name: String(name || host.instanceId) };
}

/** Operations of an estate that run on hosts by agents: the number that decides whether it can move. */
import type { RecordOf } from '@baton/cloudify-archive';

type Node = RecordOf<'nodes'>['item'];
type Instance = RecordOf<'node_instances'>['item'];
type Agent = RecordOf<'agents'>['item'];

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Counts the operations of a node, and of its relationships, whose executor is the agent of the host. */
export function hostOperations(node: Pick<Node, 'operations' | 'relationships'>): number {
  const names = new Set<string>();
  const note = (where: string, operations: unknown): void => {
    if (!isMap(operations)) return;
    for (const [name, operation] of Object.entries(operations)) {
      if (!isMap(operation) || operation.executor !== 'host_agent' || operation.plugin === '') continue;
      // Each operation is there twice: under its full and under its short name.
      names.add(`${where}/${name.slice(name.lastIndexOf('.') + 1)}/${String(operation.operation)}`);
    }
  };
  note('', node.operations);
  for (const [i, relationship] of node.relationships.entries()) {
    if (!isMap(relationship)) continue;
    note(`source ${i}`, relationship.source_operations);
    note(`target ${i}`, relationship.target_operations);
  }
  return names.size;
}

export interface FoundAgent {
  name: string;
  installMethod: string;
  ip: string | null;
}

/** The agent that an instance has by its runtime properties; null when it has none. */
export function agentOfInstance({ id, runtime_properties: properties }: Instance): FoundAgent | null {
  const agent = properties.cloudify_agent;
  if (!isMap(agent) || agent.install_method === 'none') return null;
  // Every Compute may have the configuration; an agent that was installed has a name or a queue.
  if (typeof agent.name !== 'string' && typeof agent.queue !== 'string') return null;
  return {
    name: typeof agent.name === 'string' ? agent.name : id,
    installMethod: typeof agent.install_method === 'string' ? agent.install_method : 'remote',
    ip: typeof agent.ip === 'string' ? agent.ip : null,
  };
}

export const agentOfRecord = ({ id, install_method: method, ip }: Agent): FoundAgent => ({
  name: id,
  installMethod: method ?? 'remote',
  ip,
});

/** What a person does for an agent to work here. */
export function adviceFor(installMethod: string): string {
  switch (installMethod) {
    case 'remote':
      return 'reinstall it from here after activation: run install_new_agents; the host must be reachable by SSH with the key or password of its agent_config';
    case 'init_script':
    case 'plugin':
      return `run the new install script on the host by the way in which it got the old one (${installMethod})`;
    case 'provided':
      return 'install the agent on the host by hand with the script that this manager gives';
    default:
      return 'nothing: no agent is installed';
  }
}

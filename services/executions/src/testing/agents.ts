import { agentAddress, agentWorkerId, type executionsRpc } from '@baton/contracts';
import { type PeerDeployment, peerDeployment } from './deployments-peer';
import type { EngineClient } from './engine-setup';

const TENANT = 'default_tenant';

/** Returns the worker id of the agent of a host. */
export const agentOf = (host: string, tenant = TENANT): string => agentWorkerId(agentAddress(tenant, host));

/**
 * Creates a deployment with `hosts` whose agents are there, each with applications on it that have one operation `create`, and a
 * node `central` whose operation a worker runs. Instances are called `<host>_1`, `<host>_app<n>_1`, `<prefix>central_1`.
 */
export function hostedDeployment(
  hosts: string[],
  {
    apps = 1,
    config = { install_method: 'remote' },
  }: { apps?: number; config?: Record<string, unknown> } = {},
): PeerDeployment {
  const appsOf = (host: string) => Array.from({ length: apps }, (_, n) => `${host}_app${n}`);
  const names = hosts.flatMap((host) => [host, ...appsOf(host)]);
  const of = Object.fromEntries([...names, `${hosts[0]}_central`].map((name) => [name, [] as string[]]));
  const made = peerDeployment(of, ['create']);
  // One by one: the nodes of the peer share their operations.
  made.nodes = made.nodes.map((node) => structuredClone(node));
  for (const node of made.nodes) {
    if (hosts.includes(node.id)) {
      node.type_hierarchy = ['cloudify.nodes.Root', 'cloudify.nodes.Compute'];
      node.properties = { agent_config: config as never };
      node.operations = {};
    } else if (!node.id.endsWith('_central')) {
      for (const operation of Object.values(node.operations)) operation.executor = 'host_agent';
    }
  }
  for (const instance of made.instances) {
    const host = hosts.find((one) => instance.node_id === one || instance.node_id.startsWith(`${one}_app`));
    instance.host_id = host ? `${host}_1` : null;
  }
  return made;
}

/** Returns the instances of the operations of leases. */
export const instancesOf = (leases: readonly executionsRpc.TaskLease[]): string[] =>
  leases.map(({ assignmentJson }) => JSON.parse(assignmentJson).self.nodeInstanceId as string).sort();

/** Calls ClaimAgentTasks as the agent `workerId`. */
export const askAsAgent = (
  client: EngineClient,
  workerId: string,
  more: Partial<executionsRpc.ClaimAgentTasksRequest> = {},
): Promise<executionsRpc.ClaimAgentTasksResponse> =>
  client.claimAgentTasks({ workerId, room: 8, isNewStream: false, held: [], ...more });

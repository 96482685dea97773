import { join } from 'node:path';
import { eventually } from '@baton/testkit/eventually';
import { call } from '../../test/harness/session';
import type { Place } from '../../test/hosts/client/identity';
import { KEY_SECRET } from '../../test/hosts/on-host';
import { type Host, startHosts } from '../../test/hosts/rig';
import { type Child, startChild } from '../harness/child';
import { inParallel, type Manager, putBlueprint, putDeployment, startManager } from '../harness/manager';
import type { NewAgent, ProtocolAnswer, ProtocolQuestion } from './protocol-agents';

const TENANT = 'default_tenant';
/** Protocol agents of one process. */
const PER_PROCESS = 160;
/** A host with an operation on it; as many instances as asked for. Its agents are entered by hand: nothing is installed. */
const blueprint = (hosts: number): string => `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins:
  noop: { executor: central_deployment_agent, install: false }
node_types:
  app:
    derived_from: cloudify.nodes.Root
    interfaces:
      bench:
        run: scripts/run.sh
        told: { implementation: noop.noop.told }
node_templates:
  host: { type: cloudify.nodes.Compute, properties: { agent_config: { install_method: provided, user: bench } } }
  app: { type: app, relationships: [{ type: cloudify.relationships.contained_in, target: host }] }
groups:
  all: { members: [host] }
policies:
  many: { type: cloudify.policies.scaling, targets: [all], properties: { default_instances: ${hosts} } }
`;

export interface AgentsWorld {
  manager: Manager;
  hosts: Host[];
  place: Place;
  /** Makes a deployment with `count` hosts whose agents speak from a few processes; resolves when all have streams. */
  speaking(id: string, count: number): Promise<Speaking>;
  /** Ends all agents, the real ones too. */
  silence(): Promise<void>;
  stop(): Promise<void>;
}

export interface Speaking {
  /** Sums over the processes. */
  count(): Promise<ProtocolAnswer>;
  pids: number[];
}

export async function startAgentsWorld(
  hosts: number,
  env: Record<string, string> = {},
): Promise<AgentsWorld> {
  const rig = await startHosts(hosts);
  const children: Child<ProtocolQuestion & object, ProtocolAnswer>[] = [];
  let manager: Manager | null = null;
  const endSpeaking = (): Promise<unknown> => Promise.all(children.map((child) => child.stop()));
  const silence = async (): Promise<void> => {
    await endSpeaking();
    await Promise.all(rig.hosts.map((host) => host.reboot()));
  };
  const stop = async (): Promise<void> => {
    await endSpeaking();
    await manager?.stop();
    await rig.stop();
  };
  try {
    manager = await startManager({ mode: 'services', workers: 2, listen: rig.managerAddress, env });
    if (hosts > 0)
      await call(manager.client, 'putSecret', { secret_key: KEY_SECRET }, { value: rig.hosts[0]!.key });
    const { client } = manager;
    // A gateway tells of its packages within a second or two; before that nothing can be installed.
    await eventually(() => call(client, 'upgradeAgents', {}, {}), { deadlineMs: 60_000 });
    const place = { host: rig.managerAddress, port: Number(new URL(manager.fleet.baseUrl).port) };
    const running = manager;
    return {
      manager,
      hosts: rig.hosts,
      place,
      speaking: async (id, count) => {
        const agents = await enterAgents(running, id, count);
        const own: typeof children = [];
        for (let i = 0; i < agents.length; i += PER_PROCESS)
          own.push(startChild(join('agents', 'protocol-agents.ts')));
        children.push(...own);
        await Promise.all(
          own.map((child, i) =>
            child.ask({ add: agents.slice(i * PER_PROCESS, (i + 1) * PER_PROCESS), place }),
          ),
        );
        return { pids: own.map(({ pid }) => pid), count: () => countOf(own) };
      },
      silence,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function countOf(children: readonly Child<never, ProtocolAnswer>[]): Promise<ProtocolAnswer> {
  const sum = { open: 0, welcomes: 0, finished: 0 };
  for (const child of children) {
    const one = await child.ask('count' as never);
    sum.open += one.open;
    sum.welcomes += one.welcomes;
    sum.finished += one.finished;
  }
  return sum;
}

/** Makes the deployment, and enters an agent for each of its hosts; returns their tokens. */
async function enterAgents(manager: Manager, id: string, count: number): Promise<NewAgent[]> {
  await putBlueprint(manager, {
    name: id,
    yaml: blueprint(count),
    operations: count,
    files: { 'scripts/run.sh': '#!/bin/sh\n:\n' },
  });
  await putDeployment(manager, id, id);
  const query = { deployment_id: id, node_id: 'host', _size: count };
  const { items } = await call(manager.client, 'listNodeInstances', {}, undefined, query);
  const agents: NewAgent[] = [];
  await inParallel(items.length, 8, async (i) => {
    const instance: string = items[i].id;
    const record = {
      node_instance_id: instance,
      state: 'started',
      create_rabbitmq_user: false,
      install_method: 'provided',
    };
    await call(manager.client, 'createAgent', { name: instance }, record);
    const { token, authorities } = await call(manager.client, 'enrolAgent', { name: instance }, {});
    agents.push({ token, authorities, tenant: TENANT, instance });
  });
  return agents;
}

/** The request that runs the operation `bench.run` on these nodes. */
export const runRequest = (operation = 'bench.run'): object => ({
  workflow_id: 'execute_operation',
  parameters: { operation, node_ids: ['app'] },
});

/** A manager with two tenants that have the same deployment of two hosts, and doors for agents of those hosts. */
import { eventually } from '@baton/testkit';
import { tgz } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { enrol, type Identity, type Place } from '../hosts/client/identity';
import { type Caller, callerOf, type Who } from './caller';

export const DEADLINE = { deadlineMs: 60_000 };
/** Value of the secret `vault`. */
export const SECRET = 'the-word-of-the-vault-5512';
const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_types:
  app:
    derived_from: cloudify.nodes.Root
    properties: { word: { default: '' } }
    interfaces:
      probe:
        run: { implementation: scripts/run.sh, max_retries: 0, inputs: { word: { default: { get_property: [SELF, word] } } } }
        secret: { implementation: scripts/run.sh, max_retries: 0, inputs: { word: { default: { get_secret: vault } } } }
node_templates:
  host_a: { type: cloudify.nodes.Compute, properties: { ip: 10.0.0.1, agent_config: { install_method: provided, user: u } } }
  host_b: { type: cloudify.nodes.Compute, properties: { ip: 10.0.0.2, agent_config: { install_method: provided, user: u } } }
  app_a: { type: app, properties: { word: word-of-a }, relationships: [{ type: cloudify.relationships.contained_in, target: host_a }] }
  app_b: { type: app, properties: { word: word-of-b }, relationships: [{ type: cloudify.relationships.contained_in, target: host_b }] }
  central: { type: app }
`;
const FILES = {
  'blueprint.yaml': BLUEPRINT,
  'scripts/run.sh': '#!/bin/sh\necho the file of the blueprint\n',
};
/** Name of the tenant of `alien`. */
export const ELSEWHERE = 'elsewhere';

export interface Started {
  execution: string;
  task: string;
}

export interface Prey {
  fleet: Fleet;
  caller: Caller;
  /** The agents' listener. */
  place: Place;
  /** A manager of the other tenant. */
  alien: Who;
  /** Node instances of the deployment `d` of the default tenant, by node. */
  ids: Record<string, string>;
  /** The same of the other tenant. */
  alienIds: Record<string, string>;
  /** Enters the agent of a host instance; returns its one-time token and what it trusts. */
  newToken(who: Who, instance: string): Promise<{ token: string; authorities: string }>;
  newIdentity(who: Who, instance: string): Promise<Identity>;
  /** Starts an operation of the interface `probe` on a node; returns the execution and its task. */
  start(who: Who, node: string, operation?: string): Promise<Started>;
}

export async function startPrey(): Promise<Prey> {
  // No worker: central operations stay unclaimed.
  const fleet = await startFleet({ mode: 'standalone', workers: 0, env: { BATON_LOG_LEVEL: 'warn' } });
  try {
    const caller = callerOf(fleet);
    const place = { host: '127.0.0.1', port: Number(new URL(fleet.baseUrl).port) };
    const alien = await caller.user('alien', ELSEWHERE, 'manager');
    await caller.must(caller.admin, 'PUT', '/secrets/vault', { value: SECRET });
    await caller.must(alien, 'PUT', '/secrets/vault', { value: `${SECRET}-elsewhere` });
    const ids = await deploy(caller, caller.admin);
    const alienIds = await deploy(caller, alien);
    const newToken: Prey['newToken'] = async (who, instance) => {
      const record = { node_instance_id: instance, state: 'created', create_rabbitmq_user: false };
      await caller.must(who, 'PUT', `/agents/${instance}`, { ...record, install_method: 'provided' });
      return await caller.must(who, 'POST', `/agents/${instance}/enrolment`, {});
    };
    const newIdentity: Prey['newIdentity'] = async (who, instance) => {
      const { token, authorities } = await newToken(who, instance);
      return await enrol(place, token, authorities);
    };
    const start: Prey['start'] = (who, node, operation = 'run') => startProbe(caller, who, node, operation);
    return { fleet, caller, place, alien, ids, alienIds, newToken, newIdentity, start };
  } catch (error) {
    await fleet.stop();
    throw error;
  }
}

/** Uploads the blueprint and makes the deployments `d` and `e`; returns the node instances of `d` by node. */
async function deploy(caller: Caller, who: Who): Promise<Record<string, string>> {
  await caller.must(who, 'PUT', '/blueprints/b', undefined, tgz(FILES));
  await caller.must(who, 'PUT', '/blueprints/other', undefined, tgz(FILES));
  await caller.must(who, 'PUT', '/deployments/d', { blueprint_id: 'b' });
  await caller.must(who, 'PUT', '/deployments/e', { blueprint_id: 'other' });
  const { items } = await caller.must(who, 'GET', '/node-instances?deployment_id=d');
  return Object.fromEntries(items.map((one: { node_id: string; id: string }) => [one.node_id, one.id]));
}

async function startProbe(caller: Caller, who: Who, node: string, operation: string): Promise<Started> {
  const { id } = await caller.must(who, 'POST', '/executions', {
    deployment_id: 'd',
    workflow_id: 'execute_operation',
    parameters: { operation: `probe.${operation}`, node_ids: [node] },
    force: true,
  });
  const task = await eventually(async () => {
    const answer = await caller.must(who, 'GET', `/operations?execution_id=${id}`);
    const found = (answer.items ?? answer).find((one: { type: string }) => one.type === 'RemoteWorkflowTask');
    if (!found) throw new Error('the operation is not planned yet');
    return found.id as string;
  }, DEADLINE);
  return { execution: id, task };
}

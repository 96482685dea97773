/** One fuzz run against new managers: one with RabbitMQ for rpc and messages, one with the broker in PostgreSQL for messages. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tgz } from '../../contract/world';
import { copyOfDist } from '../../harness/dist-copy';
import { type Fleet, startFleet } from '../../harness/fleet';
import { adminClient, call, succeed, upload } from '../../harness/session';
import { tell } from '../findings';
import { fuzzRabbit } from './messages';
import { fuzzPostgres } from './messages-postgres';
import { fuzzRpc } from './rpc';

const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates: {n1: {type: cloudify.nodes.Root}}
`;
const archive = tgz({ 'blueprint.yaml': BLUEPRINT });

/** Installs a deployment; returns its ids under the names of payload fields. */
async function deploy(fleet: Fleet, id: string): Promise<Record<string, string>> {
  const admin = adminClient(fleet);
  await upload(admin, id, archive);
  await call(admin, 'createDeployment', { id }, { blueprint_id: id });
  const execution = await succeed(admin, id, 'install');
  const { items } = await call(admin, 'listNodeInstances', {}, undefined, { deployment_id: id });
  const names = { deploymentId: id, blueprintId: id, executionId: execution.id, nodeInstanceId: items[0].id };
  return { ...names, instance: items[0].id, execution: execution.id, username: 'admin', nodeId: 'n1' };
}

/** Checks that an honest user can still use the manager after the fuzz run. */
async function goesOn(fleet: Fleet): Promise<void> {
  const id = `after-${randomUUID().slice(0, 8)}`;
  try {
    await deploy(fleet, id);
    await succeed(adminClient(fleet), id, 'uninstall');
  } catch (error) {
    tell('does not go on', 'an honest user', String(error));
  }
}

export interface Payloads {
  /** Kinds of payloads: rpc, messages. */
  of: readonly string[];
  seed: number;
  /** Number of messages of each kind for each method or message type. */
  each: number;
  /** Restricts rpc to methods whose path contains this text. */
  only?: string;
}

/** Runs the fuzz test; errors are reported to findings.ts. */
export async function fuzzPayloads({ of, seed, each, only = '' }: Payloads): Promise<void> {
  const dist = copyOfDist();
  try {
    const fleet = await startFleet({ mode: 'services', workers: 1, dist });
    try {
      const known = await deploy(fleet, 'd1');
      // Messages first: some rpc methods, called last, remove the data that the run uses.
      if (of.includes('messages')) {
        await fuzzRabbit({ fleet, seed, each });
        await goesOn(fleet);
      }
      if (of.includes('rpc')) {
        await fuzzRpc({ fleet, seed, each, known, only });
        await goesOn(fleet);
      }
    } finally {
      await fleet.stop();
    }
    if (of.includes('messages')) await fuzzPostgres({ dist, seed, each, goesOn });
  } finally {
    rmSync(dist, { recursive: true });
  }
}

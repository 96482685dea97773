// Creates, in minutes, a manager's database with the amount of data that field.md requires for the API's speed.

import pg from 'pg';
import { upload } from '../../test/harness/session';
import { archive } from '../harness/blueprints';
import { allEnded, start } from '../harness/executions';
import { inParallel, type Manager, putDeployment, startManager } from '../harness/manager';
import { INSTANCES_PER_DEPLOYMENT, PROTOTYPE, type SeedSizes } from './sizes';
import { seedBlueprints, seedExecutions, seedModel } from './tables';

const NODES = 5;

/** Five nodes in a chain with two instances each, inputs, outputs, capabilities. */
const blueprint = `tosca_definitions_version: cloudify_dsl_1_4
imports:
  - cloudify/types/types.yaml
plugins:
  noop: { executor: central_deployment_agent, install: false }
inputs:
  region: { type: string, default: eu-west-1 }
  size: { type: integer, default: 3 }
node_types:
  bench.nodes.Noop:
    derived_from: cloudify.nodes.Root
    properties:
      address: { default: 10.0.0.1 }
    interfaces:
      cloudify.interfaces.lifecycle:
        create: noop.noop.op
        start: noop.noop.op
node_templates:
${Array.from(
  { length: NODES },
  (_, i) => `  n${i}:
    type: bench.nodes.Noop
    capabilities: { scalable: { properties: { default_instances: ${INSTANCES_PER_DEPLOYMENT / NODES} } } }
${i === 0 ? '' : `    relationships: [{ type: cloudify.relationships.depends_on, target: n${i - 1} }]\n`}`,
).join('')}outputs:
  region: { value: { get_input: region } }
capabilities:
  address: { value: { get_property: [n0, address] } }
`;

/** Creates one real blueprint, deployment and installation, from which everything is cloned. */
async function makePrototype(manager: Manager): Promise<void> {
  const packed = archive({ name: PROTOTYPE, yaml: blueprint, operations: 0 });
  await upload(manager.client, PROTOTYPE, packed);
  await inParallel(1, 1, () => putDeployment(manager, PROTOTYPE, PROTOTYPE));
  await allEnded(manager, [await start(manager, PROTOTYPE, { workflow_id: 'install' })], 60_000);
}

/**
 * Fills the database at `url`, which must be empty; `say` receives a line for each part. `env`: environment of the manager that
 * creates the first rows. By default its archives are deleted together with it.
 */
export async function seed(
  url: string,
  sizes: SeedSizes,
  say: (line: string) => void,
  env: Record<string, string> = {},
): Promise<void> {
  const manager = await startManager({ mode: 'standalone', workers: 1, databaseUrl: url, env });
  try {
    await makePrototype(manager);
  } finally {
    await manager.stop();
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `set synchronous_commit = off; set maintenance_work_mem = '256MB'; set timezone = 'UTC'`,
    );
    const parts = { blueprints: seedBlueprints, model: seedModel, executions: seedExecutions };
    for (const [name, fill] of Object.entries(parts)) {
      const begin = performance.now();
      await client.query('begin');
      await fill(client, sizes);
      await client.query('commit');
      say(`  seeded ${name} in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
    }
    // Replaces the work of autovacuum: index-only scans need the visibility map.
    await client.query('vacuum (analyze)');
  } finally {
    await client.end();
  }
}

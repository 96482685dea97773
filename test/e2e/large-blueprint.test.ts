// A blueprint whose plan is larger than the limit of one call or answer: from upload to deletion.
import type { Client } from '@baton/client';
import { archive } from '../../bench/harness/blueprints';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, call, succeed, upload } from '../harness/session';

/** Their plan, including all inherited data of the node type, is 136 MB of JSON. */
const NODES = 10_000;
const ID = 'large';

let fleet: Fleet;
let client: Client;
beforeAll(async () => {
  fleet = await startE2eFleet();
  client = adminClient(fleet);
});
afterAll(async () => await fleet?.stop());

test('10,000 plain nodes upload, deploy, install and uninstall', async () => {
  const yaml = [
    'tosca_definitions_version: cloudify_dsl_1_4',
    'imports: [cloudify/types/types.yaml]',
    'node_templates:',
    ...Array.from({ length: NODES }, (_, i) => `  node_${i}: {type: cloudify.nodes.Root}`),
  ].join('\n');
  const uploaded = await upload(client, ID, archive({ name: ID, yaml, operations: 0 }));
  // The complete plan is returned only on request.
  expect(JSON.stringify(uploaded).length).toBeLessThan(1_000_000);
  await call(client, 'createDeployment', { id: ID }, { blueprint_id: ID });
  const instances = async (state: string): Promise<number> =>
    (await call(client, 'listNodeInstances', {}, undefined, { deployment_id: ID, state, _size: 1 })).metadata
      .pagination.total;
  expect(await instances('uninitialized')).toBe(NODES);
  await succeed(client, ID, 'install');
  expect(await instances('started')).toBe(NODES);
  await succeed(client, ID, 'uninstall');
  expect(await instances('deleted')).toBe(NODES);
}, 240_000);

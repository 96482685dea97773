// Workflows of plugins/utilities that are stopped in the middle, and go on after a resume.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { startE2eFleet } from '../harness/e2e';
import { builtPlugin } from '../harness/example';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, followExecution, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
/** Requests so far, and what to do with the next one of a path. */
const asked: string[] = [];
const held: ServerResponse[] = [];
let hold: ((path: string) => void) | null = null;
const server = createServer((request, response) => {
  asked.push(request.url!);
  if (hold === null) return void response.end('passed');
  held.push(response);
  hold(request.url!);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  fleet = await startE2eFleet({
    env: {
      BATON_TASK_RETRIES: '0',
      BATON_VALIDATE_RESPONSES: 'true',
      BATON_WORKER_EGRESS_ALLOW: `127.0.0.1:${port}`,
    },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: builtPlugin('utilities') });
  await upload(client, 'gate', archiveOf(join(__dirname, 'blueprints/utilities-gate')));
  await call(client, 'createDeployment', { id: 'gate' }, { blueprint_id: 'gate', inputs: { port } });
});
afterAll(async () => {
  await fleet?.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('an operation of a relationship calls with variables of both ends, and keeps the answer at its source', async () => {
  await succeed(client, 'gate', 'install');
  expect(asked.splice(0)).toEqual(['/pass/first', '/pass/second', '/related/pass/second']);
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'gate' });
  const [caller] = items.filter(({ node_id: node }: { node_id: string }) => node === 'caller');
  expect(caller.runtime_properties.answer).toEqual({ text: 'passed' });
});

test('a scale-out that is stopped goes on with the same instances', async () => {
  const isHeld = new Promise<string>((resolve) => {
    hold = resolve;
  });
  const { id } = await call(
    client,
    'startExecution',
    {},
    {
      deployment_id: 'gate',
      workflow_id: 'scaleuplist',
      parameters: { scalable_entity_properties: { gate: [{ color: 'red' }] } },
    },
  );
  expect(await isHeld).toBe('/pass/red');
  await call(client, 'actOnExecution', { executionId: id }, { action: 'force-cancel' });
  expect((await followExecution(client, id)).status).toBe('cancelled');
  hold = null;
  for (const response of held.splice(0)) response.destroy();
  await call(client, 'actOnExecution', { executionId: id }, { action: 'resume' });
  const { status, error } = await followExecution(client, id);
  expect([status, error]).toEqual(['terminated', '']);

  expect(asked).toEqual(['/pass/red', '/pass/red', '/pass/second', '/related/pass/second']);
  const query = { deployment_id: 'gate' };
  const { items } = await call(client, 'listNodeInstances', {}, undefined, query);
  expect(items.map(({ state }: { state: string }) => state)).toEqual(['started', 'started', 'started']);
  const { items: modifications } = await call(client, 'listDeploymentModifications', {}, undefined, query);
  expect(modifications.map((one: { status: string }) => one.status)).toEqual(['finished']);
});

import { join } from 'node:path';
import type { Client } from '@baton/client';
import { type TestEngine, testEngine } from '../../plugins/docker/src/testing-engine';
import { startE2eFleet } from '../harness/e2e';
import { builtPlugin } from '../harness/example';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
let engine: TestEngine;

beforeAll(async () => {
  engine = await testEngine();
  fleet = await startE2eFleet({
    env: {
      BATON_TASK_RETRIES: '0',
      BATON_VALIDATE_RESPONSES: 'true',
      BATON_WORKER_EGRESS_ALLOW: `127.0.0.1:${engine.port}`,
    },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: builtPlugin('docker') });
  await upload(client, 'docker', archiveOf(join(__dirname, 'blueprints/docker')));
  const { ca, cert, key } = engine.tls;
  await call(client, 'putSecret', { secret_key: 'docker_ca' }, { value: ca });
  await call(client, 'putSecret', { secret_key: 'docker_cert' }, { value: cert });
  await call(client, 'putSecret', { secret_key: 'docker_key' }, { value: key });
  const inputs = { host: '127.0.0.1', port: engine.port };
  await call(client, 'createDeployment', { id: 'site' }, { blueprint_id: 'docker', inputs });
});
afterAll(async () => {
  await fleet?.stop();
  await engine?.stop();
});

const drifts = async (): Promise<unknown[]> => {
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'site' });
  return items.flatMap(
    ({
      system_properties: properties,
    }: {
      system_properties: { configuration_drift?: { result?: unknown } };
    }) => {
      const result = properties.configuration_drift?.result;
      return result ? [result] : [];
    },
  );
};

test('an image and its container: installed, checked, drifted, healed and removed', async () => {
  const { messages } = await succeed(client, 'site', 'install');
  expect(engine.docker('exec', 'site', 'cat', '/page.html')).toBe('<h1>Welcome</h1>\n');
  expect(messages.join('\n')).not.toContain('PRIVATE KEY');
  const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'site' });
  expect(outputs.status).toBe('running');
  await succeed(client, 'site', 'check_status');
  await succeed(client, 'site', 'check_drift');
  expect(await drifts()).toEqual([]);

  // Somebody moves the name of the image.
  engine.docker('tag', 'base:1', 'site:1');
  await succeed(client, 'site', 'check_drift');
  expect(JSON.stringify(await drifts())).toContain('image_id');

  engine.docker('rm', '-f', 'site');
  expect((await follow(client, 'site', 'check_status')).status).toBe('failed');
  await succeed(client, 'site', 'heal');
  expect(engine.docker('inspect', '--format', '{{.State.Status}}', 'site').trim()).toBe('running');

  await succeed(client, 'site', 'uninstall');
  expect(engine.docker('ps', '-aq')).toBe('');
});

// A program that a TypeScript plugin downloads, in the isolation and under the network rules of a worker.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { builtPlugin } from '../harness/author-plugin';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
const PROGRAM = '#!/bin/sh\ncase "$1" in --version) echo "Orchid v1.4.2";; *) echo "it grows";; esac\n';
const requests: string[] = [];
const server = createServer((request, response) => {
  requests.push(request.url!);
  response.end(PROGRAM);
});
const sha256 = createHash('sha256').update(PROGRAM).digest('hex');
const url = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  fleet = await startE2eFleet({
    env: {
      BATON_TASK_RETRIES: '0',
      BATON_VALIDATE_RESPONSES: 'true',
      // Operations reach nothing on this machine that is not named.
      BATON_WORKER_EGRESS_ALLOW: url('').replace('http://', ''),
    },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: await builtPlugin('orchid') });
  await upload(client, 'orchid', archiveOf(join(__dirname, 'blueprints/orchid')));
});
afterAll(async () => {
  await fleet?.stop();
  await new Promise((resolve) => server.close(resolve));
});

const deploy = async (id: string, expected = sha256): Promise<void> => {
  const inputs = { url: url('/orchid'), sha256: expected };
  await call(client, 'createDeployment', { id }, { blueprint_id: 'orchid', inputs });
};

test('is downloaded once for the process of the plugin, runs, and is pinned', async () => {
  await deploy('one');
  const { messages } = await succeed(client, 'one', 'install');
  expect(messages).toContain('orchid 1.4.2 from download');
  await deploy('two');
  await succeed(client, 'two', 'install');
  // Another worker has a process of its own.
  expect(requests.length).toBeLessThanOrEqual(Number(process.env.BATON_E2E_WORKERS ?? 1));
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'two' });
  expect(items[0].runtime_properties).toEqual({ orchid_version: '1.4.2', said: 'it grows' });
});

test('another program than the author has seen is not run', async () => {
  await deploy('three', '0'.repeat(64));
  const { status, error } = await follow(client, 'three', 'install');
  expect(status).toBe('failed');
  expect(error ?? '').toMatch(/is another file: its SHA-256 is/);
});

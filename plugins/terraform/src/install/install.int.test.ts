import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestNode, testNode, testRelationship } from '@baton/plugin-sdk/testing';
import { ZipFile } from 'yazl';
import plugin from '../plugin';
import { standIn } from '../testing/binaries';
import { sampleNode } from '../testing/sample-module';

let server: Server;
let archive: Buffer;
let requests: string[];
let place: string;
beforeAll(async () => {
  const zip = new ZipFile();
  zip.addBuffer(readFileSync(standIn), 'terraform', { mode: 0o100755 });
  zip.addFile(join(dirname(standIn), 'read-blocks.cjs'), 'read-blocks.cjs');
  zip.end();
  archive = await buffer(zip.outputStream as never);
  server = createServer((request, response) => {
    requests.push(`${request.url} ${request.headers.authorization ?? ''}`.trim());
    if (request.url?.startsWith('/terraform')) response.end(archive);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  requests = [];
  place = mkdtempSync(join(tmpdir(), 'baton-install-'));
  process.env.TMPDIR = place;
});
afterEach(() => {
  delete process.env.TMPDIR;
  rmSync(place, { recursive: true, force: true });
});

const url = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
const host = (config: object, more: object = {}): TestNode =>
  testNode(plugin, 'cloudify.nodes.terraform', { properties: { resource_config: config, ...more } as never });
const digest = () => createHash('sha256').update(archive).digest('hex');

it('downloads a program once, checks its digest, and writes down where it comes from', async () => {
  const node = host({ installation_source: url('/terraform.zip?token=secret'), sha256: digest() });
  await node.run('create');
  await node.run('create');
  expect(requests).toHaveLength(1);
  expect(node.runtimeProperties).toEqual({
    installation: { source: url('/terraform.zip?token=secret'), sha256: digest() },
    terraform_version: '1.11.4',
  });
  expect(JSON.stringify(node.log)).not.toContain('token=secret');
  await node.run('delete');
  expect(node.runtimeProperties).toEqual({});
});

it('a module runs with the program of its host, also on a machine that does not have it yet', async () => {
  const runtime = { installation: { source: url('/terraform.zip'), sha256: digest() } };
  const module = sampleNode('not-used', { variables: { path: join(place, 'page') } }, { runtime });
  await module.run('configure');
  expect(readFileSync(join(place, 'page'), 'utf8')).toBe('made');
  await module.run('check_drift');
  expect(requests).toEqual(['/terraform.zip']);
});

it('downloads nothing where the operator refuses downloads', async () => {
  process.env.BATON_DOWNLOADS = 'refused';
  try {
    const node = host({ installation_source: url('/terraform.zip?token=secret') });
    await expect(node.run('create')).rejects.toThrow(
      '/terraform.zip is not downloaded: this manager downloads nothing for plugins',
    );
  } finally {
    delete process.env.BATON_DOWNLOADS;
  }
  expect(requests).toEqual([]);
});

it('uses a program that is there, and asks it for its version', async () => {
  const node = host({ use_existing_resource: true }, { terraform_config: { executable_path: standIn } });
  await node.run('create');
  expect(node.runtimeProperties).toEqual({ executable_path: standIn, terraform_version: '1.11.4' });
  expect(requests).toEqual([]);
});

test.each<[string, () => object, string]>([
  [
    'another digest',
    () => ({ installation_source: url('/terraform.zip'), sha256: '0'.repeat(64) }),
    'the content has the SHA-256',
  ],
  ['an address without a file', () => ({ installation_source: url('/none') }), '/none answered 404'],
  ['another scheme', () => ({ installation_source: 'file:///bin/sh' }), 'http:'],
])('refuses %s, and keeps nothing', async (_, config, message) => {
  await expect(host(config()).run('create')).rejects.toThrow(message);
  expect(readdirSync(place)).toEqual([]);
});

it('says that a program is missing, or is another one', async () => {
  const at = (path: string) =>
    host({ use_existing_resource: true }, { terraform_config: { executable_path: path } });
  await expect(at('/nowhere/terraform').run('create')).rejects.toThrow('terraform cannot be run');
  await expect(at('/bin/echo').run('create')).rejects.toThrow('it is neither terraform nor tofu');
});

it('a module gets what its host has now, and nothing of what the host had before', async () => {
  const runOnHost = (source: object, target: object) =>
    testRelationship(plugin, 'cloudify.relationships.terraform.run_on_host', {
      source: { runtime: source as never },
      target: { runtime: target as never },
    });
  const installation = { source: 'https://example.org/t.zip' };
  const moved = runOnHost({ executable_path: '/old/terraform', outputs: {} }, { installation });
  await moved.run('source.preconfigure');
  expect(moved.source.runtimeProperties).toEqual({ installation, outputs: {} });
  await expect(runOnHost({}, {}).run('source.preconfigure')).rejects.toThrow('has no program yet');
});

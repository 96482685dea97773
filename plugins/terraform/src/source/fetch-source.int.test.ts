// Sources that are not in the blueprint: archives of a server, and a repository of git.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createPort } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@baton/testkit/eventually';
import { standIn } from '../testing/binaries';
import { sampleModule, sampleNode } from '../testing/sample-module';
import { packFolder } from './pack';

let place: string;
let server: Server;
let requests: { url: string; authorization: string | undefined }[];
let archive: Buffer;
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'baton-sources-'));
  const folder = join(place, 'packed');
  mkdirSync(join(folder, 'repo-1.0/net'), { recursive: true });
  writeFileSync(join(folder, 'repo-1.0/net/main.tf.json'), JSON.stringify(sampleModule));
  archive = await packFolder(folder);
  server = createServer((request, response) => {
    requests.push({ url: request.url!, authorization: request.headers.authorization });
    if (request.url === '/moved.tar.gz') response.writeHead(302, { location: '/stack.tar.gz' }).end();
    else if (request.url?.startsWith('/stack.tar.gz')) response.end(archive);
    else response.writeHead(request.url === '/busy.zip' ? 503 : 403).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(place, { recursive: true, force: true });
});
beforeEach(() => {
  requests = [];
});

const url = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
const nodeOf = (config: object) =>
  sampleNode(standIn, { variables: { path: join(place, 'page') }, ...config });

it('takes an archive of a server with credentials, through a redirect, with one folder at its top', async () => {
  const source = { location: url('/moved.tar.gz'), username: 'ada', password: 'top secret' };
  const node = nodeOf({ source, source_path: 'net' });
  await node.run('configure');
  expect(node.runtimeProperties.outputs).toMatchObject({ greeting: { value: { text: 'hello world' } } });
  expect(requests[0]!.authorization).toBe(`Basic ${Buffer.from('ada:top secret').toString('base64')}`);
  expect(node.runtimeProperties.last_source_location).toBe(url('/moved.tar.gz'));
  expect(JSON.stringify([node.runtimeProperties, node.log])).not.toContain('top secret');
  const before = requests.length;
  await node.run('pull');
  expect(requests).toHaveLength(before);
  await node.run('update');
  expect(requests).toHaveLength(2 * before);
});

it('says what the server answers, without the query of the address', async () => {
  await expect(nodeOf({ source: url('/none.zip?token=abc') }).run('configure')).rejects.toThrow(
    /^http:\/\/127\.0\.0\.1:\d+\/none\.zip answered 403$/,
  );
  await expect(nodeOf({ source: url('/busy.zip') }).run('configure')).rejects.toMatchObject({
    name: 'RetryableError',
  });
});

it('clones a repository of git, at a tag', async () => {
  const repository = join(place, 'served/stack.git');
  mkdirSync(repository, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
      cwd: repository,
    });
  git('init', '--quiet');
  writeFileSync(join(repository, 'main.tf.json'), JSON.stringify(sampleModule));
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  git('tag', 'v1');
  writeFileSync(join(repository, 'main.tf.json'), '{ broken');
  git('commit', '--quiet', '-am', 'second');
  const port = await freePort();
  const served = ['daemon', '--reuseaddr', '--export-all', '--listen=127.0.0.1', `--port=${port}`];
  const daemon = spawn('git', [...served, `--base-path=${join(place, 'served')}`], { detached: true });
  try {
    await eventually(() => canConnect(port));
    const node = nodeOf({ source: `git::git://127.0.0.1:${port}/stack.git?ref=v1` });
    await node.run('configure');
    expect(readFileSync(join(place, 'page'), 'utf8')).toBe('made');
    const broken = nodeOf({ source: `git://127.0.0.1:${port}/stack.git` });
    await expect(broken.run('configure')).rejects.toThrow('terraform init ended with 1');
  } finally {
    process.kill(-daemon.pid!, 'SIGKILL');
  }
});

async function freePort(): Promise<number> {
  const probe = createPort();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

const canConnect = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

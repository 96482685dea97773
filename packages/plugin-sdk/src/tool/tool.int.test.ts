import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definePlugin, nodeType } from '../index';
import { testNode } from '../testing';
import { type ToolSpec, tool } from '.';
import { tgzOf, zipOf } from './testing-archives';

/** A program that says a version. */
const program = (version: string): string => `#!/bin/sh\necho "Orchid v${version} on linux"\n`;
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const KIND = `${process.platform}-${process.arch}`;

let folder: string;
let base: string;
let requests: string[];
let files: Record<string, Buffer>;
const server = createServer((request, response) => {
  requests.push(request.url!);
  const file = files[request.url!];
  response.writeHead(file === undefined ? 404 : 200).end(file);
});
const before = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR };
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-tool-'));
  for (const name of ['bin', 'tmp']) mkdirSync(join(folder, name));
  Object.assign(process.env, { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, TMPDIR: join(folder, 'tmp') });
  [requests, files] = [[], {}];
});
afterEach(() => {
  Object.assign(process.env, before);
  if (before.TMPDIR === undefined) delete process.env.TMPDIR;
  delete process.env.BATON_DOWNLOADS;
  rmSync(folder, { recursive: true, force: true });
});

function install(version: string, place = join(folder, 'bin/orchid')): string {
  writeFileSync(place, program(version));
  chmodSync(place, 0o755);
  return place;
}

/** Serves an archive; each one is another content, so that programs of earlier tests are not taken. */
let served = 0;
async function serve(name: string, version: string, entry = 'orchid') {
  const entries = [
    { name: 'README', content: `number ${++served}` },
    { name: entry, content: program(version) },
  ];
  const content = name.endsWith('.zip') ? zipOf(entries) : await tgzOf(entries);
  files[`/${name}`] = content;
  return { url: `${base}/${name}`, sha256: sha256(content), file: entry };
}

const nodeOf = (spec: Partial<ToolSpec>, runtime = {}) =>
  testNode(
    definePlugin({
      name: 'p',
      version: '1.0.0',
      types: {
        'p.T': nodeType({
          create: async (scope) => ({ ...(await tool(scope, { name: 'orchid', ...spec })) }),
        }),
      },
    }),
    'p.T',
    { runtime },
  );

it('takes the program of PATH, and pins its version', async () => {
  const path = install('1.4.2');
  const node = nodeOf({ downloads: { [KIND]: { url: `${base}/x`, sha256: '0'.repeat(64) } } });
  expect(await node.run('create')).toEqual({ path, version: '1.4.2', from: 'PATH' });
  expect([node.runtimeProperties, requests]).toEqual([{ orchid_version: '1.4.2' }, []]);
});

it.each(['orchid.zip', 'orchid.tar.gz'])('downloads %s once when PATH has another version', async (name) => {
  install('1.0.0');
  const from = await serve(name, '1.4.2', 'linux/orchid');
  const node = nodeOf({ version: '1.4.2', downloads: { [KIND]: from } });
  const found = (await node.run('create')) as { path: string; from: string };
  expect(found).toEqual({
    path: expect.stringContaining(join(folder, 'tmp')),
    version: '1.4.2',
    from: 'download',
  });
  expect(await node.run('create')).toEqual(found);
  expect(requests).toEqual([`/${name}`]);
});

it('a pinned version counts more than the wanted one, unless the version is to change', async () => {
  install('1.0.0');
  const pinned = { orchid_version: '1.0.0' };
  const from = await serve('orchid-2.zip', '2.0.0');
  const newer = { version: '2.0.0', downloads: { [KIND]: from } };
  expect(await nodeOf(newer, pinned).run('create')).toMatchObject({ version: '1.0.0' });
  const node = nodeOf({ ...newer, isUpdate: true }, pinned);
  expect(await node.run('create')).toMatchObject({ version: '2.0.0' });
  expect(node.runtimeProperties).toEqual({ orchid_version: '2.0.0' });
});

it('a given path is taken as it is, and its digest is checked', async () => {
  const path = install('1.4.2', join(folder, 'mine'));
  expect(await nodeOf({ path }).run('create')).toEqual({ path, version: '1.4.2', from: 'path' });
  await expect(nodeOf({ path, sha256: '0'.repeat(64) }).run('create')).rejects.toThrow(
    `${path} is another program: its SHA-256 is`,
  );
  await expect(nodeOf({ path }, { orchid_version: '1.0.0' }).run('create')).rejects.toThrow(
    `orchid: ${path} is 1.4.2, and this instance was made with 1.0.0`,
  );
});

describe('refuses, and says what to do', () => {
  it('a program that is not there', async () => {
    install('1.0.0');
    const none = nodeOf({ version: '9.9.9', downloads: { 'plan9-mips': { url: base, sha256: '' } } });
    await expect(none.run('create')).rejects.toThrow(
      new RegExp(
        'the program orchid 9.9.9 is not on this worker \\(looked in .*/bin, /usr/bin, /bin\\); there is 1.0.0 \\(.*/bin/orchid\\); ' +
          'the plugin names downloads for plan9-mips only, of 9.9.9: install it on the workers',
      ),
    );
  });

  it('downloads where the manager allows none', async () => {
    process.env.BATON_DOWNLOADS = 'refused';
    const from = await serve('orchid.zip', '1.4.2');
    await expect(nodeOf({ downloads: { [KIND]: from } }).run('create')).rejects.toThrow(
      `${base}/orchid.zip is not downloaded: this manager downloads nothing for plugins (BATON_WORKER_DOWNLOADS)`,
    );
    expect(requests).toEqual([]);
  });

  it('another file than the author has seen, and leaves nothing', async () => {
    const from = await serve('orchid.zip', '1.4.2');
    files['/orchid.zip'] = zipOf([{ name: 'orchid', content: program('6.6.6') }]);
    await expect(nodeOf({ downloads: { [KIND]: from } }).run('create')).rejects.toThrow(
      'is another file: its SHA-256 is',
    );
    expect(readdirSync(join(folder, 'tmp/baton-tools'))).toEqual([]);
  });

  it('a downloaded program that somebody has changed', async () => {
    const from = await serve('orchid.tar.gz', '1.4.2');
    const node = nodeOf({ downloads: { [KIND]: from } });
    const { path } = (await node.run('create')) as { path: string };
    chmodSync(path, 0o700);
    writeFileSync(path, program('1.4.2').concat('# more'));
    await expect(node.run('create')).rejects.toThrow('has been changed by somebody: it is not used');
  });

  it.each(['zip', 'tar.gz'])(
    'a %s without the program, with the nearest name; a way out of the folder is only a name',
    async (end) => {
      const from = await serve(`odd.${end}`, '1.4.2', '../orchid-9');
      const spec = { downloads: { [KIND]: { ...from, file: 'orchid-8' } } };
      await expect(nodeOf(spec).run('create')).rejects.toThrow(
        /has no file orchid-8; the nearest is|invalid relative path/,
      );
      expect(existsSync(join(folder, 'tmp/orchid-9'))).toBe(false);
    },
  );

  it.each(['zip', 'tar.gz'])('a link in place of the program, in a %s', async (end) => {
    const entries = [{ name: 'orchid', link: '/bin/sh' }];
    const content = end === 'zip' ? zipOf(entries) : await tgzOf(entries);
    files[`/link.${end}`] = content;
    const from = { url: `${base}/link.${end}`, sha256: sha256(content) };
    await expect(nodeOf({ downloads: { [KIND]: from } }).run('create')).rejects.toThrow('has no file orchid');
  });

  it('a missing file of the server, for good', async () => {
    const from = { url: `${base}/gone.zip`, sha256: '0'.repeat(64) };
    await expect(nodeOf({ downloads: { [KIND]: from } }).run('create')).rejects.toMatchObject({
      exceptionType: 'NonRecoverableError',
      message: `${base}/gone.zip answered 404`,
    });
  });
});

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { type Header, pack as tarPack } from 'tar-stream';
import { ZipFile } from 'yazl';
import { packFolder } from './pack';
import { refuseLinksOut } from './refuse-links';
import { moduleFolder } from './safe-path';
import { unpack } from './unpack';

let outside: string;
let folder: string;
beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), 'baton-hostile-'));
  folder = join(outside, 'source');
  mkdirSync(folder);
});
afterEach(() => rmSync(outside, { recursive: true, force: true }));

async function tarOf(...entries: [Partial<Header> & { name: string }, string?][]): Promise<Buffer> {
  const tar = tarPack();
  for (const [header, content = ''] of entries) tar.entry({ size: content.length, ...header }, content);
  tar.finalize();
  return gzipSync(await buffer(tar));
}

async function zipOf(...entries: [string, string | Buffer, number?][]): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content, mode = 0o100644] of entries) zip.addBuffer(Buffer.from(content), name, { mode });
  zip.end();
  return await buffer(zip.outputStream as never);
}

it('takes files with their modes, folders, and links within the source, from tar and zip', async () => {
  await unpack(
    await tarOf(
      [{ name: 'modules/', type: 'directory' }],
      [{ name: './modules/main.tf', mode: 0o644 }, 'a'],
      [{ name: 'run.sh', mode: 0o755 }, '#!'],
      [{ name: 'link', type: 'symlink', linkname: 'modules/main.tf' }],
    ),
    folder,
  );
  expect(readFileSync(join(folder, 'link'), 'utf8')).toBe('a');
  expect(statSync(join(folder, 'run.sh')).mode & 0o777).toBe(0o755);
  const packed = await packFolder(folder);
  const again = join(outside, 'again');
  mkdirSync(again);
  await unpack(packed, again);
  expect(readFileSync(join(again, 'link'), 'utf8')).toBe('a');
  const zipped = join(outside, 'zipped');
  mkdirSync(zipped);
  await unpack(await zipOf(['a/main.tf', 'z'], ['b', 'a/main.tf', 0o120777]), zipped);
  expect(readFileSync(join(zipped, 'b'), 'utf8')).toBe('z');
});

test.each<[string, () => Promise<Buffer>]>([
  ['a name with ..', () => tarOf([{ name: '../evil.tf' }, 'x'])],
  ['.. in the middle', () => tarOf([{ name: 'a/../../evil.tf' }, 'x'])],
  ['an absolute name', () => tarOf([{ name: '/tmp/evil.tf' }, 'x'])],
  [
    '.. with the separators of Windows, in a zip',
    () => zipOf(['a\\..\\..\\evil.tf'.replaceAll('\\', '_'), 'x'], ['link', '../evil', 0o120777]),
  ],
  ['a link out', () => tarOf([{ name: 'evil.tf', type: 'symlink', linkname: '../evil' }])],
  ['an absolute link', () => tarOf([{ name: 'evil.tf', type: 'symlink', linkname: '/etc/passwd' }])],
  [
    'a link out through another link',
    () =>
      tarOf(
        [{ name: 'deep', type: 'symlink', linkname: '.' }],
        [{ name: 'up', type: 'symlink', linkname: 'deep/..' }],
        [{ name: 'up/evil', type: 'symlink', linkname: '.' }],
      ),
  ],
  [
    'a file through a link',
    () => tarOf([{ name: 'up', type: 'symlink', linkname: '..' }], [{ name: 'up/evil.tf' }, 'x']),
  ],
  ['a hard link', () => tarOf([{ name: 'evil.tf', type: 'link', linkname: '/etc/passwd' }])],
  ['a device', () => tarOf([{ name: 'evil.tf', type: 'character-device' }])],
  ['the same file twice', () => tarOf([{ name: 'a.tf' }, 'x'], [{ name: 'a.tf' }, 'y'])],
  ['something else than an archive', async () => Buffer.from('#!/bin/sh\n')],
  ['half of an archive', async () => (await tarOf([{ name: 'a.tf' }, 'x'.repeat(5000)])).subarray(0, 40)],
])('refuses %s, and writes nothing outside', async (_, archive) => {
  await expect(unpack(await archive(), folder)).rejects.toThrow(/archive|source of the module/);
  expect(existsSync(join(outside, 'evil.tf')) || existsSync(join(outside, 'evil'))).toBe(false);
});

it('stops at a bomb, in zip and tar', async () => {
  const limits = { maxBytes: 1_000_000, maxEntries: 10 };
  const zeros = Buffer.alloc(5_000_000);
  await expect(unpack(await zipOf(['a.tf', zeros]), folder, limits)).rejects.toThrow(
    'larger than 1000000 bytes when it is unpacked',
  );
  await expect(
    unpack(await tarOf([{ name: 'b.tf' }, zeros.toString('latin1')]), folder, limits),
  ).rejects.toThrow('larger than 1000000 bytes when it is unpacked');
  const many = Array.from({ length: 11 }, (_, i): [string, string] => [`f${i}`, '']);
  await expect(unpack(await zipOf(...many), folder, limits)).rejects.toThrow('more than 10 files');
});

it('source_path and links of a folder stay in the source', async () => {
  mkdirSync(join(folder, 'net'));
  writeFileSync(join(folder, 'net/main.tf'), '');
  writeFileSync(join(outside, 'main.tf'), '');
  expect(await moduleFolder(folder, 'net')).toBe(join(folder, 'net'));
  expect(await moduleFolder(outside, 'source/net')).toBe(join(folder, 'net'));
  for (const path of ['..', 'net/../..', '/../..'])
    await expect(moduleFolder(folder, path)).rejects.toThrow('source_path');
  await expect(moduleFolder(folder, 'other')).rejects.toThrow('source_path "other" holds no .tf file');
  await refuseLinksOut(folder);
  symlinkSync(outside, join(folder, 'up'));
  await expect(moduleFolder(folder, 'up')).rejects.toThrow('leads out of the source');
  await expect(refuseLinksOut(folder)).rejects.toThrow('holds the link "up", which leads out of it');
});

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { testNode } from '@baton/plugin-sdk/testing';
import plugin from '../plugin';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-files-'));
  path = join(folder, 'app.conf');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const owner = userInfo().username;
const node = (config: object = {}) =>
  testNode(plugin, 'cloudify.nodes.File', {
    properties: {
      resource_config: { resource_path: 'app.conf', file_path: path, owner, mode: 640, ...config },
    },
    files: { 'app.conf': 'port={{ port }}\n' },
  });

it('writes a file with its permissions, and removes it', async () => {
  const file = node();
  expect(await file.run('create')).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe('port={{ port }}\n');
  expect(statSync(path).mode & 0o7777).toBe(0o640);
  await file.run('delete');
  expect(existsSync(path)).toBe(false);
  await file.run('delete');
});

it('fills templates, with the input before the property', async () => {
  const file = node({ template_variables: { port: 1 } });
  await file.run('create', { resource_config: { template_variables: { port: 8080 }, mode: 600 } });
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o7777]).toEqual(['port=8080', 0o600]);
});

it('replaces a link in place of the file, and does not follow it', async () => {
  const other = join(folder, 'of-somebody');
  writeFileSync(other, 'kept');
  symlinkSync(other, path);
  await node().run('create');
  expect([readFileSync(other, 'utf8'), lstatSync(path).isSymbolicLink()]).toEqual(['kept', false]);
});

it('goes on without a file that the blueprint does not have, when it is told to', async () => {
  await expect(node({ resource_path: 'none' }).run('create')).rejects.toThrow('none');
  const file = node({ resource_path: 'none', allow_failure: true });
  expect(await file.run('create')).toBe(true);
  expect(file.log.map(({ level }) => level)).toEqual(['error']);
});

it.each<[object, string]>([
  [{ mode: 899 }, 'mode: 899; expected digits from 0 to 7'],
  [{ owner: 'a:b:c' }, 'expected one of the formats "user" or "user:group"'],
  [{ owner: 'nobody-of-this-name' }, 'there is no nobody-of-this-name in /etc/passwd of the worker'],
  [{ file_path: 'relative' }, 'expected an absolute path'],
  [{ file_path: '/no/such/folder/x' }, 'there is no folder /no/such/folder'],
  [{ file_path: '/proc/none/x' }, 'file_path: there is no folder /proc/none'],
])('refuses %j', async (config, message) => {
  await expect(node(config).run('create')).rejects.toThrow(message);
});

it('neither replaces nor removes a folder, and leaves no draft behind', async () => {
  mkdirSync(path);
  await expect(node().run('create')).rejects.toThrow('is a folder');
  await expect(node().run('delete')).rejects.toThrow('is a folder');
  chmodSync(path, 0o755);
  expect(statSync(path).isDirectory()).toBe(true);
});

// Files on a real vsftpd.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { testNode } from '@baton/plugin-sdk/testing';
import plugin from '../plugin';
import { type FtpServer, ftpServer } from './testing-server';

let server: FtpServer;
beforeAll(async () => {
  server = await ftpServer();
});
afterAll(async () => await server?.stop());

const node = (config: object = {}, more: object = {}) =>
  testNode(plugin, 'cloudify.nodes.ftp', {
    properties: {
      resource_config: { ...server.auth, ...config },
      files: { 'motd.txt': 'Grüße\n' },
      raw_files: { 'page.html': 'resources/page.html' },
      ...more,
    },
    files: { 'resources/page.html': '<h1>page</h1>' },
  });
const stored = (name: string): string => readFileSync(join(server.home, name), 'utf8');

test.each([
  ['in clear', {}],
  ['over TLS with a certificate that is trusted', { tls: true }],
])('uploads texts and files of the blueprint, and removes them: %s', async (_, config) => {
  const files = node({ ...config, ...('tls' in config && { ca: server.ca }) });
  await files.run('create');
  expect([stored('motd.txt'), stored('page.html')]).toEqual(['Grüße\n', '<h1>page</h1>']);
  expect(files.runtimeProperties.files).toEqual(['motd.txt', 'page.html']);
  // Somebody has removed one of them.
  rmSync(join(server.home, 'motd.txt'));
  await files.run('delete');
  expect(existsSync(join(server.home, 'page.html'))).toBe(false);
  expect(files.runtimeProperties).toEqual({});
});

test('a certificate that nobody trusts is refused before the login', async () => {
  await expect(node({ tls: true }).run('create')).rejects.toThrow(/certificate/);
  expect(existsSync(join(server.home, 'motd.txt'))).toBe(false);
});

test('a wrong password is tried again later, and is not told', async () => {
  const refused = node({ password: 'wrong-password' });
  await expect(refused.run('create')).rejects.toMatchObject({ exceptionType: 'RecoverableError' });
  await expect(refused.run('create')).rejects.not.toThrow(/wrong-password/);
  expect(refused.log.map(({ message }) => message).join()).not.toContain('wrong-password');
});

test('a folder that does not exist fails for good', async () => {
  const failed = node({}, { files: { 'none/motd.txt': 'x' } }).run('create');
  await expect(failed).rejects.toMatchObject({ exceptionType: 'NonRecoverableError' });
});

test('a path that holds a second command is refused', async () => {
  await expect(node({}, { files: { 'a\r\nDELE b': 'x' } }).run('create')).rejects.toThrow(
    'control character',
  );
});

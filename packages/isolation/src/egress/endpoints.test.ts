import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpointsOfUrl, parseEndpoint, resolvers } from './endpoints';

test.each([
  ['10.0.0.0/8', { family: 4, network: '10.0.0.0/8', port: null }],
  ['127.0.0.1:8080', { family: 4, network: '127.0.0.1', port: 8080 }],
  ['10.0.0.0/8:443', { family: 4, network: '10.0.0.0/8', port: 443 }],
  ['fd00::/8', { family: 6, network: 'fd00::/8', port: null }],
  ['[fd00::/8]:443', { family: 6, network: 'fd00::/8', port: 443 }],
  ['[::1]', { family: 6, network: '::1', port: null }],
])('%s is an endpoint', (text, endpoint) => expect(parseEndpoint(text)).toEqual(endpoint));

test.each([
  '',
  'localhost:80',
  '10.0.0.0/33',
  '10.0.0/8',
  '10.0.0.0/8/8',
  '10.0.0.1:0',
  '10.0.0.1:65536',
  '10.0.0.1:x',
  '[10.0.0.1]:80',
  'fd00::/129',
  'fe80::1%eth0',
  '1.2.3.4 drop',
  '::1; delete',
])('%s is none', (text) => expect(parseEndpoint(text)).toBeNull());

test('a URL leads to its host and port', () => {
  expect(endpointsOfUrl('https://10.1.2.3/api')).toEqual([{ family: 4, network: '10.1.2.3', port: 443 }]);
  expect(endpointsOfUrl('http://[::1]:8080')).toEqual([{ family: 6, network: '::1', port: 8080 }]);
  expect(endpointsOfUrl('http://localhost')).toEqual([
    { family: 4, network: '127.0.0.1', port: 80 },
    { family: 6, network: '::1', port: 80 },
  ]);
  expect(endpointsOfUrl('nothing')).toEqual([]);
});

test('name servers are those of the file, without zones', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-resolv-'));
  const file = join(dir, 'resolv.conf');
  writeFileSync(file, '# nameserver 1.1.1.1\nnameserver 127.0.0.53\nnameserver fe80::1%eth0\nnameserver x\n');
  expect(resolvers(file)).toEqual([
    { family: 4, network: '127.0.0.53', port: 53 },
    { family: 6, network: 'fe80::1', port: 53 },
  ]);
  expect(resolvers(join(dir, 'none'))).toEqual([]);
  rmSync(dir, { recursive: true });
});

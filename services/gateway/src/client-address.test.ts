import type { IncomingMessage } from 'node:http';
import { createAddressOf } from './client-address';

const request = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('%s counts as %s', (address, name) => {
  expect(createAddressOf([])(request(address))).toBe(name);
});

test('what a client says of itself counts only behind a proxy that is trusted', () => {
  const forged = '203.0.113.9';
  expect(createAddressOf([])(request('198.51.100.1', forged))).toBe('198.51.100.1');
  expect(createAddressOf(['10.0.0.0/8'])(request('198.51.100.1', forged))).toBe('198.51.100.1');
});

test.each([
  ['one proxy', '203.0.113.9', '203.0.113.9'],
  ['an address that the client put in front', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
  ['two proxies', '203.0.113.9, 10.0.0.7', '203.0.113.9'],
  ['proxies alone', '10.0.0.8, 10.0.0.7', '10.0.0.8'],
  ['a port', '203.0.113.9:4711', '203.0.113.9'],
  ['IPv6 with a port', '[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
  ['rubbish', 'unknown', '10.0.0.1'],
  ['nothing', undefined, '10.0.0.1'],
])('behind trusted proxies: %s', (_what, forwarded, name) => {
  expect(createAddressOf(['10.0.0.0/8'])(request('10.0.0.1', forwarded))).toBe(name);
});

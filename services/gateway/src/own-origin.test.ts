import type { IncomingMessage } from 'node:http';
import { createOwnOrigin } from './own-origin';

const PROXY = '10.0.0.7';
const ask = (headers: Record<string, string>, o: { peer?: string; isTls?: boolean } = {}): string =>
  createOwnOrigin(['10.0.0.0/8'])({
    headers,
    socket: { remoteAddress: o.peer ?? '192.0.2.1', ...(o.isTls ? { encrypted: true } : {}) },
  } as unknown as IncomingMessage);

test.each<[string, Record<string, string>, { peer?: string; isTls?: boolean }, string]>([
  ['plain', { host: 'm.example:8080' }, {}, 'http://m.example:8080'],
  ['TLS', { host: 'm.example' }, { isTls: true }, 'https://m.example'],
  ['the usual port', { host: 'M.example:443' }, { isTls: true }, 'https://m.example'],
  ['an IPv6 host', { host: '[::1]:8080' }, {}, 'http://[::1]:8080'],
  [
    'a trusted proxy',
    { host: 'inner:1', 'x-forwarded-host': 'm.example', 'x-forwarded-proto': 'https' },
    { peer: PROXY },
    'https://m.example',
  ],
  ['a trusted proxy that keeps the host', { host: 'm.example' }, { peer: PROXY }, 'http://m.example'],
  [
    'a stranger who claims to be one',
    { host: 'm.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
    {},
    'http://m.example',
  ],
  ['no host', {}, {}, ''],
  ['a host that is none', { host: 'a b' }, {}, ''],
])('%s', (_what, headers, o, origin) => {
  expect(ask(headers, o)).toBe(origin);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, silentLog, systemClock } from '@baton/kernel';
import { createAuthority, writeIssued } from '@baton/tls/authority';
import { ConfigError } from '../config/config';
import { openTransport, transportProblems } from './transport';

const files = {
  BATON_TLS_CA_FILE: 'ca.crt',
  BATON_TLS_CERT_FILE: 'tls.crt',
  BATON_TLS_KEY_FILE: 'tls.key',
};
const safe = {
  ...files,
  BATON_TLS: 'required',
  BATON_BROKER: 'rabbitmq',
  DATABASE_URL: new Secret('postgres://u:p@db/baton?sslmode=verify-full'),
  AMQP_URL: new Secret('amqps://u:p@mq'),
  REDIS_URL: new Secret('rediss://u:p@redis'),
};
const use = { hasDatabase: true, isEdge: false };

test('what is safe passes, and without BATON_TLS everything does', () => {
  expect(transportProblems(safe, use)).toEqual([]);
  const plain = { BATON_TLS: 'off', DATABASE_URL: new Secret('postgres://u@db/baton') };
  expect(transportProblems(plain, use)).toEqual([]);
});

test.each([
  ['DATABASE_URL', new Secret('postgres://u:pw@db/baton')],
  ['DATABASE_URL', new Secret('postgres://u:pw@db/baton?sslmode=disable')],
  // Weaker under the rules of libpq, or ambiguous.
  ['DATABASE_URL', new Secret('postgres://u:pw@db/baton?sslmode=require')],
  ['DATABASE_URL', new Secret('postgres://u:pw@db/baton?sslmode=no-verify')],
  ['DATABASE_URL', new Secret('postgres://u:pw@db/baton?sslmode=verify-full&sslmode=disable')],
  ['DATABASE_URL', new Secret('postgres://u:pw@db/baton?sslmode=verify-full&uselibpqcompat=true')],
  ['AMQP_URL', new Secret('amqp://u:pw@mq')],
  ['REDIS_URL', new Secret('redis://u:pw@redis')],
  ['BATON_HTTP_IDENTITY', 'http://identity:8080'],
  ['BATON_WORKER_MANAGER_URL', 'http://gateway:8080'],
])('required refuses a plain or unchecked %s without repeating it', (name, value) => {
  const problems = transportProblems({ ...safe, [name]: value }, use);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(`^${name}: must .*BATON_TLS=required`));
  expect(problems[0]).not.toContain('pw');
});

test('what is not used is not judged', () => {
  const unused = { ...safe, DATABASE_URL: new Secret('postgres://default@127.0.0.1/x') };
  expect(transportProblems(unused, { hasDatabase: false, isEdge: false })).toEqual([]);
  const endpoint = { BATON_S3_ENDPOINT: 'http://minio' };
  expect(transportProblems({ ...safe, ...endpoint, BATON_BLOBS: '/blobs' }, use)).toEqual([]);
  expect(transportProblems({ ...safe, ...endpoint, BATON_BLOBS: 's3' }, use)).toHaveLength(1);
});

test('the gateway needs a certificate for its users, and both halves of it', () => {
  expect(transportProblems(safe, { hasDatabase: false, isEdge: true })).toEqual([
    'BATON_HTTPS_CERT_FILE is missing (needed by BATON_TLS=required)',
  ]);
  expect(transportProblems({ BATON_TLS: 'off', BATON_HTTPS_KEY_FILE: 'k' }, use)).toEqual([
    'BATON_HTTPS_CERT_FILE is missing (BATON_HTTPS_KEY_FILE is given)',
  ]);
});

test('on: the services need certificates, their servers may be plain', () => {
  const on = { BATON_TLS: 'on', DATABASE_URL: new Secret('postgres://u@db/baton') };
  expect(transportProblems({ ...files, ...on }, use)).toEqual([]);
  expect(transportProblems(on, use)).toHaveLength(3);
});

test('files that cannot be used are a wrong configuration', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'transport-'));
  const nowMs = systemClock.now();
  const authority = await createAuthority('test', nowMs);
  const issued = await authority.issue({ names: ['one'], nowMs });
  const { ca, cert, key } = writeIssued(dir, issued, authority.cert);
  const config = { BATON_TLS: 'on', BATON_TLS_CA_FILE: ca, BATON_TLS_CERT_FILE: cert } as const;
  const open = (keyFile: string) => openTransport({ ...config, BATON_TLS_KEY_FILE: keyFile }, silentLog);
  expect(() => open(join(dir, 'absent'))).toThrow(ConfigError);
  expect(() => open(join(dir, 'absent'))).toThrow(/BATON_TLS_KEY_FILE: .*absent: cannot be read \(ENOENT\)/);
  const transport = open(key);
  expect(transport.servers).toBe(transport.inner);
  expect(transport.edge).toBeNull();
  transport.close();
  rmSync(dir, { recursive: true });
});

import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog, systemClock } from '@baton/kernel';
import { type Authority, createAuthority, openAuthority, writeIssued } from './authority';
import { createTlsSource, dnsNames, postgresConnection, TlsFileError } from './index';

let authority: Authority;
let dir: string;
const nowMs = systemClock.now();
const issue = (names: string[]) => authority.issue({ names, nowMs });

beforeAll(async () => {
  authority = await createAuthority('test', nowMs);
});
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tls-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('a renewed pair is told once; half of it leaves what was', async () => {
  const files = writeIssued(dir, await issue(['one']), authority.cert);
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warnings.push(JSON.stringify(fields)) };
  const source = createTlsSource(files, { log });
  const told: string[] = [];
  source.onChange(({ cert }) => void told.push(cert!.toString()));
  expect(source.refresh()).toBe(false);

  const next = await issue(['two']);
  writeFileSync(files.cert, next.cert);
  expect(source.refresh()).toBe(false);
  expect(source.refresh()).toBe(false);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('is not the key of the certificate in');
  expect(told).toEqual([]);

  writeFileSync(files.key, next.key);
  expect(source.refresh()).toBe(true);
  expect(told).toEqual([next.cert]);
  expect(source.current().cert!.toString()).toBe(next.cert);
  source.close();
});

test.each<[string, (files: { ca: string; cert: string; key: string }) => void, RegExp]>([
  ['an absent file', (files) => rmSync(files.ca), /ca\.crt: cannot be read \(ENOENT\)/],
  ['a certificate that is none', (files) => writeFileSync(files.cert, 'x'), /tls\.crt: holds no certificate/],
  [
    'a damaged certificate',
    (files) => writeFileSync(files.ca, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
    /ca\.crt: holds a certificate that cannot be read/,
  ],
  ['a key that is none', (files) => copyFileSync(files.cert, files.key), /tls\.key: holds no private key/],
])('%s is named at the start', async (_what, harm, message) => {
  const files = writeIssued(dir, await issue(['one']), authority.cert);
  harm(files);
  const open = () => createTlsSource(files, { log: silentLog });
  expect(open).toThrow(TlsFileError);
  expect(open).toThrow(message);
});

test('an authority that was written signs again', async () => {
  const again = await openAuthority(authority);
  const files = writeIssued(dir, await again.issue({ names: ['one'], nowMs }), again.cert);
  createTlsSource(files, { log: silentLog }).close();
  expect(again.cert).toBe(authority.cert);
});

test('names of a certificate', () => {
  expect(dnsNames('DNS:Executions.baton.svc, IP Address:127.0.0.1, DNS:localhost')).toEqual([
    'executions.baton.svc',
    'localhost',
  ]);
  expect(dnsNames(undefined)).toEqual([]);
});

describe('the address of PostgreSQL', () => {
  test.each([
    'postgres://u@h/d',
    'postgres://u@h/d?sslmode=disable',
    'postgres://u@h/d?application_name=x',
    'postgres://u@h/d?sslmode=verify-full&sslrootcert=/own',
  ])('%s says all by itself', (url) => {
    const trust = createTlsSource({}, { log: silentLog });
    expect(postgresConnection(url, trust)).toEqual({ connectionString: url });
    trust.close();
  });

  test('the authority of the process is followed when it is renewed', async () => {
    const files = writeIssued(dir, await issue(['one']), authority.cert);
    const trust = createTlsSource({ ca: files.ca }, { log: silentLog });
    const { connectionString, ssl } = postgresConnection('postgres://u@h/d?sslmode=verify-full&a=b', trust);
    expect(connectionString).toBe('postgres://u@h/d?a=b');
    expect({ ...ssl }).toEqual({ ca: Buffer.from(authority.cert), minVersion: 'TLSv1.2' });
    const other = await createAuthority('other', nowMs);
    writeFileSync(files.ca, other.cert);
    trust.refresh();
    expect({ ...ssl }.ca).toEqual(Buffer.from(other.cert));
    trust.close();
  });

  test('the driver may hide our key, again and again, and still finds it', async () => {
    const files = writeIssued(dir, await issue(['one']), authority.cert);
    const trust = createTlsSource(files, { log: silentLog });
    const { ssl } = postgresConnection('postgres://u@h/d?sslmode=verify-full', trust);
    for (let i = 0; i < 2; i++) Object.defineProperty(ssl, 'key', { enumerable: false });
    expect(Object.keys(ssl!)).not.toContain('key');
    expect(ssl!.key).toEqual(trust.current().key);
    trust.close();
  });
});

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, silentLog } from '@baton/kernel';
import {
  adoptKeys,
  createCallVerifier,
  derivedTrust,
  handOutKeys,
  identityOwners,
  keyFilesIn,
  makeKeys,
  serviceCredential,
  trustFromFiles,
} from './index';

const key = new Secret('the internal key of this test');

/** A clock that tests can advance. */
function clockAt(startMs: number) {
  let ms = startMs;
  return { now: () => ms, monotonic: () => ms, pass: (by: number) => (ms += by) };
}

test('derived identities differ by service and by key, and are the same in every process', () => {
  const kids = identityOwners.map((owner) => derivedTrust(owner, key).identity.key().kid);
  expect(new Set(kids).size).toBe(identityOwners.length);
  expect(derivedTrust('catalog', new Secret(key.expose())).identity.key().kid).toBe(kids[2]);
  expect(derivedTrust('catalog', new Secret('another internal key')).identity.key().kid).not.toBe(kids[2]);
});

test('a call token lives for a minute and 5 s, for its audience', () => {
  const clock = clockAt(1_800_000_000_000);
  const { identity, bundle } = derivedTrust('catalog', key);
  const credential = serviceCredential(identity, clock);
  const token = credential.tokenFor('executions')!;
  const verifier = createCallVerifier({ audiences: ['executions'], bundle, clock });
  expect(verifier.callerOf(token)).toMatchObject({ name: 'catalog', workerId: '' });
  expect(() => verifier.callerOf(credential.tokenFor('secrets')!)).toThrow('it is meant for secrets');
  clock.pass(29_000);
  expect(credential.tokenFor('executions')).toBe(token);
  clock.pass(2_000);
  expect(credential.tokenFor('executions')).not.toBe(token);
  clock.pass(33_000);
  expect(verifier.callerOf(token)).toMatchObject({ name: 'catalog' });
  clock.pass(2_000);
  expect(() => verifier.callerOf(token)).toThrow('it has expired');
});

describe('key files', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-keys-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test('are made for every service, private ones readable by their owner only', () => {
    expect(makeKeys(dir).made).toEqual([...identityOwners]);
    for (const owner of identityOwners)
      expect(statSync(keyFilesIn(dir, owner).keyFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dir, 'trust.json'), 'utf8')).not.toContain('"d"');
    expect(makeKeys(dir).made).toEqual([]);
  });

  test('are handed out so that each service gets its own private key and the public ones', () => {
    const out = join(dir, 'out');
    for (const part of ['public', 'private'] as const) handOutKeys(dir, out, part);
    for (const owner of identityOwners) {
      const folder = join(out, owner);
      expect(readdirSync(folder).sort()).toEqual(['key.json', 'trust.json']);
      expect(statSync(join(folder, 'key.json')).mode & 0o777).toBe(0o600);
      const files = { keyFile: join(folder, 'key.json'), trustFile: join(folder, 'trust.json') };
      expect(trustFromFiles(owner, files, { log: silentLog }).identity.name).toBe(owner);
    }
  });

  test('rotate without a stop: old tokens stay good until the old key is retired', () => {
    const clock = clockAt(1_800_000_000_000);
    const open = (name: 'catalog' | 'executions') =>
      trustFromFiles(name, keyFilesIn(dir, name), { log: silentLog, clock });
    const [caller, callee] = [open('catalog'), open('executions')];
    const verifier = () => createCallVerifier({ audiences: ['executions'], bundle: callee.bundle, clock });
    const tokenNow = () => serviceCredential(caller.identity, clock).tokenFor('executions')!;
    const before = tokenNow();
    const { pending } = makeKeys(dir, { rotate: ['catalog'] });
    clock.pass(1_000);
    expect(verifier().callerOf(tokenNow())).toMatchObject({ name: 'catalog' });
    const kid = caller.identity.key().kid;
    adoptKeys(pending);
    clock.pass(1_000);
    expect(caller.identity.key().kid).not.toBe(kid);
    expect(verifier().callerOf(tokenNow())).toMatchObject({ name: 'catalog' });
    expect(verifier().callerOf(before)).toMatchObject({ name: 'catalog' });
    makeKeys(dir, { retire: ['catalog'] });
    clock.pass(1_000);
    expect(() => verifier().callerOf(before)).toThrow('is not known');
    expect(verifier().callerOf(tokenNow())).toMatchObject({ name: 'catalog' });
  });

  test('of another service are refused', () => {
    const files = { ...keyFilesIn(dir, 'catalog'), keyFile: keyFilesIn(dir, 'secrets').keyFile };
    expect(() => trustFromFiles('catalog', files, { log: silentLog })).toThrow(
      'belongs to secrets, not to catalog',
    );
  });
});

import { Secret } from '@baton/kernel';
import { createSealer } from '../providers/domain/sealed-text';
import { createOldPasswords, isOldPasswordHash, isStoredOldHash } from './old-passwords';

/** Of the password `admin` with this salt; the library of old managers wrote it. */
const HASH = '$pbkdf2-sha256$29000$b21tzRkjBECotXZOCYEQYg$pW8EZnW2BDqI.HRy8WUtBMLzB/BOA4Mtee6cuD87MIc';
const SALT = new Secret('Kf0Zl3r5nqYb2hVw');

const old = createOldPasswords(createSealer(new Secret('the key of this manager')));
const stored = old.stored(HASH, SALT);

test('a stored hash checks passwords, and holds no salt in clear text', async () => {
  expect(isStoredOldHash(stored)).toBe(true);
  expect(stored).not.toContain(SALT.expose());
  expect(stored).not.toContain(Buffer.from(SALT.expose()).toString('base64url'));
  expect(await old.verify(stored, 'admin')).toBe(true);
  expect(await old.verify(stored, 'Admin')).toBe(false);
  expect(old.open(stored)?.hash).toBe(HASH);
});

test.each([
  [
    'sealed by another manager',
    createOldPasswords(createSealer(new Secret('another key'))).stored(HASH, SALT),
  ],
  ['with another salt', old.stored(HASH, new Secret('pepper'))],
  ['with a changed seal', `${stored.slice(0, -4)}AAAA`],
  ['without a salt', HASH],
  ['of another kind', '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$aGFzaGhhc2hoYXNoaGFzaGhhc2g'],
])('no password fits a hash %s', async (_what, hash) => expect(await old.verify(hash, 'admin')).toBe(false));

test.each(['0', '200001', '9999999', '-1', '1e5'])('a hash of %s rounds is not kept', (rounds) =>
  expect(isOldPasswordHash(HASH.replace('29000', rounds))).toBe(false),
);

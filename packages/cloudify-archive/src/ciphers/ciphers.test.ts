import { bufferSource } from '@baton/zip-reader';
import {
  isCloudifyPasswordHash,
  openArchive,
  readSecurityConfiguration,
  verifyCloudifyPassword,
} from '../index';
import { legacyArchive, makeEstate, pagesArchive } from '../testing';
import { decryptFernet, fernetKey } from './fernet';

// Written by cryptography 38 of Python, with cloudify-common's Fernet256 and with Fernet itself.
const KEY_64 = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0-Pw==';
const TOKEN_64 =
  'gAAAAABrCT_bvmgOLRnZeOHGuEMwX1UhpMflOZ5wW_KgsYfrKyq06mrQ3uAwtxaCS2gXTchB0-9-XIPUt5V16IuxuB_-xYWusg==';
const KEY_32 = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const TOKEN_32 =
  'gAAAAABrCT_blIz0OIiEpAsq_HgSFPuz0oCM-sQNwkhiJqC0bwqU1DGQBQRW4J1x8KSYFDNyZ5AhiCJU1WBfO71IlLinlIdcww==';

describe('values that a manager encrypted', () => {
  test.each([
    ['64 bytes, since 4.4', KEY_64, TOKEN_64],
    ['32 bytes, Fernet itself', KEY_32, TOKEN_32],
  ])('are read with a key of %s', (_what, key, token) => {
    expect(decryptFernet(token, fernetKey(key)!)).toEqual({ text: 'Zürich ☃' });
  });

  test('a wrong key and a changed token are told from a wrong text', () => {
    const other = fernetKey(Buffer.alloc(64, 7).toString('base64'))!;
    expect(decryptFernet(TOKEN_64, other)).toEqual({ fault: 'wrong-key' });
    const changed = `${TOKEN_64.slice(0, 40)}${TOKEN_64[40] === 'A' ? 'B' : 'A'}${TOKEN_64.slice(41)}`;
    expect(decryptFernet(changed, fernetKey(KEY_64)!)).toEqual({ fault: 'wrong-key' });
  });

  test.each(['', 'plain text', 'gAAAAA==', TOKEN_64.slice(0, 60)])('%p is no token', (token) => {
    expect(decryptFernet(token, fernetKey(KEY_64)!)).toHaveProperty('fault');
  });

  test.each(['', 'short', Buffer.alloc(48).toString('base64'), 'not base64 !'])('%p is no key', (key) => {
    expect(fernetKey(key)).toBeNull();
  });
});

describe('passwords of a manager', () => {
  const SALT = 'Kf0Zl3r5nqYb2hVw';
  // Written by passlib 1.7.4 over the hmac of flask-security.
  const HASH = '$pbkdf2-sha256$29000$b21tzRkjBECotXZOCYEQYg$pW8EZnW2BDqI.HRy8WUtBMLzB/BOA4Mtee6cuD87MIc';
  const HASH_UNICODE =
    '$pbkdf2-sha256$29000$AgCAMKbUWst57/2/d6517g$PTHDh7Vxf4098xfN4bEJYkZjZMp27ac2YfCARUA/9w8';

  test('are verified with the salt of the manager', async () => {
    await expect(verifyCloudifyPassword(HASH, SALT, 'admin')).resolves.toBe(true);
    await expect(verifyCloudifyPassword(HASH_UNICODE, SALT, 'Zürich ☃ 1')).resolves.toBe(true);
    await expect(verifyCloudifyPassword(HASH, SALT, 'Admin')).resolves.toBe(false);
    await expect(verifyCloudifyPassword(HASH, 'another salt', 'admin')).resolves.toBe(false);
  });

  test.each([
    '',
    'admin',
    '$pbkdf2-abc123',
    '$pbkdf2-sha512$29000$b21tzRkjBECotXZOCYEQYg$pW8EZnW2BDqI.HRy8WUtBMLzB/BOA4Mtee6cuD87MIc',
    // Would take minutes.
    '$pbkdf2-sha256$9999999$b21tzRkjBECotXZOCYEQYg$pW8EZnW2BDqI.HRy8WUtBMLzB/BOA4Mtee6cuD87MIc',
    '$pbkdf2-sha256$0$b21tzRkjBECotXZOCYEQYg$pW8EZnW2BDqI.HRy8WUtBMLzB/BOA4Mtee6cuD87MIc',
  ])('%p is no hash that is checked', async (hash) => {
    expect(isCloudifyPasswordHash(hash)).toBe(false);
    await expect(verifyCloudifyPassword(hash, SALT, 'admin')).resolves.toBe(false);
  });
});

test('a legacy archive holds the salt and the key of its manager, and pages hold neither', async () => {
  const estate = makeEstate();
  const legacy = await openArchive(bufferSource(await legacyArchive(estate, '6.4')));
  expect(await readSecurityConfiguration(legacy)).toEqual({
    hashSalt: estate.hashSalt,
    encryptionKey: estate.encryptionKey,
  });
  const pages = await openArchive(bufferSource(await pagesArchive(estate)));
  expect(await readSecurityConfiguration(pages)).toBeNull();
});

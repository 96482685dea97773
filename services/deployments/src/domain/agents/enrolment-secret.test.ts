import { digestOfSecret, newEnrolmentSecret, openScript, sealScript } from './enrolment-secret';

test('each link has a token of its own, and neither is the other', () => {
  const [one, two] = [newEnrolmentSecret(), newEnrolmentSecret()];
  expect(new Set([one.link, one.token, two.link, two.token]).size).toBe(4);
  expect(digestOfSecret(one.token)).toEqual(one.tokenDigest);
  expect(digestOfSecret(one.link)).toEqual(one.linkDigest);
});

test('a script opens by its link alone', () => {
  const [one, two] = [newEnrolmentSecret(), newEnrolmentSecret()];
  const sealed = sealScript(one, '#!/bin/sh');
  expect(sealed.includes('#!/bin/sh')).toBe(false);
  expect(openScript(one.link, one.linkDigest, sealed)).toBe('#!/bin/sh');
  expect(() => openScript(two.link, two.linkDigest, sealed)).toThrow();
  expect(() => openScript(one.token, one.linkDigest, sealed)).toThrow();
});

test.each(['', 'x', `${'A'.repeat(43)}=`, 'A'.repeat(44), `${'A'.repeat(42)}+`, 'A'.repeat(1_000_000)])(
  'a text of another form has no digest',
  (text) => expect(digestOfSecret(text)).toBeNull(),
);

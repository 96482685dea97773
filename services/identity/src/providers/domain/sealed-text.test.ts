import { Secret } from '@baton/kernel';
import { createSealer } from './sealed-text';

const sealer = createSealer(new Secret('a key for tests only'));
const sealed = sealer.seal('client secret', 'corp', new Secret('hush'));

test('a sealed text opens for its use and its owner, and for nothing else', () => {
  expect(sealer.open('client secret', 'corp', sealed)?.expose()).toBe('hush');
  expect(sealer.open('refresh token', 'corp', sealed)).toBeNull();
  expect(sealer.open('client secret', 'other', sealed)).toBeNull();
  expect(createSealer(new Secret('another key of tests')).open('client secret', 'corp', sealed)).toBeNull();
});

test('every changed byte and every cut is noticed; the same text is never sealed alike', () => {
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(sealer.open('client secret', 'corp', changed)).toBeNull();
    expect(sealer.open('client secret', 'corp', sealed.subarray(0, at))).toBeNull();
  }
  expect(sealer.seal('client secret', 'corp', new Secret('hush'))).not.toEqual(sealed);
});

test('a text of an earlier release opens', () => {
  const kept = Buffer.from('AQICAgICAgICAgICAgjc2QPH5i9s2k1rV6iWlKEZKYE4', 'base64');
  expect(createSealer(new Secret('an internal key')).open('client secret', 'p1', kept)?.expose()).toBe(
    'kept',
  );
});

import { openBytes, SEAL_KEY_BYTES, sealBytes } from './sealed-bytes';

const key = Buffer.alloc(SEAL_KEY_BYTES, 1);
const place = Buffer.from('place');

test('opens with its key and its place, and with no other', () => {
  const sealed = sealBytes(key, Buffer.from('hush'), place);
  expect(openBytes(key, sealed, place).toString()).toBe('hush');
  expect(() => openBytes(Buffer.alloc(SEAL_KEY_BYTES, 2), sealed, place)).toThrow();
  expect(() => openBytes(key, sealed, Buffer.from('elsewhere'))).toThrow();
  expect(sealBytes(key, Buffer.from('hush'), place)).not.toEqual(sealed);
});

test('every changed byte and every cut is noticed', () => {
  const sealed = sealBytes(key, Buffer.from('hush'), place);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(() => openBytes(key, changed, place)).toThrow();
    expect(() => openBytes(key, sealed.subarray(0, at), place)).toThrow();
  }
});

test('what an earlier release has sealed opens', () => {
  const kept = 'AgICAgICAgICAgICbLO5PWokqJOwqZypMoen09DZuIqZkf8UseKBiB1IHlwLA+VPCqasBjkZUhW/';
  expect(openBytes(key, Buffer.from(kept, 'base64'), place).toString()).toBe('kept since an earlier release');
});

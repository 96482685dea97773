import { type BundlePlace, openFromBundle, sealForBundle } from './bundle-seal';

const KEY = Buffer.alloc(32, 1).toString('base64url');
const PLACE: BundlePlace = ['secrets', 'db', 'value'];
const sealed = sealForBundle(KEY, PLACE, 'a value ☃');

test.each(['text', '', null, { path: 'a', n: [1] }])('%j comes back under its key and place', (value) =>
  expect(openFromBundle(KEY, PLACE, sealForBundle(KEY, PLACE, value))).toEqual({ value }),
);

test('the text shows nothing of the value', () =>
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('a value'));

test.each([
  ['another key', Buffer.alloc(32, 2).toString('base64url'), PLACE, sealed],
  ['another record', KEY, ['secrets', 'other', 'value'] as const, sealed],
  ['another field', KEY, ['secrets', 'db', 'provider_options'] as const, sealed],
  ['a changed text', KEY, PLACE, `${sealed.slice(0, -2)}AA`],
  ['no sealed text', KEY, PLACE, 'short'],
])('it does not open under %s', (_what, key, place, text) =>
  expect(openFromBundle(key, place, text)).toBeNull(),
);

test('a key of another length is refused', () => {
  expect(() => sealForBundle('c2hvcnQ', PLACE, 'x')).toThrow(/32 bytes, not 5/);
  expect(() => openFromBundle('', PLACE, sealed)).toThrow(/32 bytes, not 0/);
});

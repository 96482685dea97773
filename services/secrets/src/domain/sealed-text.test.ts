import { Secret } from '@baton/kernel';
import { masterKeyOf } from './envelope';
import { openText, sealText } from './sealed-text';

const [current, former, foreign] = ['a', 'b', 'c'].map((c) => masterKeyOf(new Secret(c.repeat(32)))) as [
  ReturnType<typeof masterKeyOf>,
  ReturnType<typeof masterKeyOf>,
  ReturnType<typeof masterKeyOf>,
];
const of = { tenant: 't', use: 'webhooks/w' };
const text = new Secret('whsec_ä');

test('a text opens for its tenant and use only, and tells a former master key', () => {
  const sealed = sealText(current, of, text);
  expect(sealed.includes('whsec_')).toBe(false);
  const opened = openText([current, former], of, sealed);
  expect([opened?.text.expose(), opened?.isOutdated]).toEqual(['whsec_ä', false]);
  expect(openText([current], { ...of, tenant: 'other' }, sealed)).toBeNull();
  expect(openText([current], { ...of, use: 'webhooks/x' }, sealed)).toBeNull();
  expect(openText([current, former], of, sealText(former, of, text))?.isOutdated).toBe(true);
});

test.each([
  ['an unknown master key', sealText(foreign, of, text)],
  ['a changed byte', sealText(current, of, text).map((byte, i) => (i === 30 ? byte ^ 1 : byte))],
  ['nothing', Buffer.alloc(0)],
  ['only the name of the key', Buffer.from(current.id, 'ascii')],
])('%s does not open', (_what, sealed) => expect(openText([current], of, Buffer.from(sealed))).toBeNull());

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, silentLog } from '@baton/kernel';
import {
  adoptKeys,
  createSeals,
  derivedTrust,
  type IdentityOwner,
  keyFilesIn,
  makeKeys,
  type Seals,
  trustFromFiles,
  UnknownKey,
} from './index';

const key = new Secret('the internal key of this test');
const sealsAs = (name: IdentityOwner): Seals => {
  const { identity, bundle } = derivedTrust(name, key);
  return createSeals({ identityOf: (asked) => (asked === name ? identity : null), bundle });
};
const texts = (n: number): Buffer[] => Array.from({ length: n }, (_, i) => Buffer.from(`message ${i}`));

test.each([1, 2, 3, 5, 8, 255, 256, 257, 700])('each of a batch of %i has a seal for itself alone', (n) => {
  const contents = texts(n);
  const seals = sealsAs('executions').sealAll('executions', contents);
  const reader = sealsAs('deployments');
  for (const [i, content] of contents.entries()) {
    expect(() => reader.check(['executions'], content, seals[i])).not.toThrow();
    const other = seals[(i + 1) % n];
    if (n > 1) expect(() => reader.check(['executions'], content, other)).toThrow('its seal is wrong');
  }
});

test('a seal holds for its content and its publisher, and nobody seals for others', () => {
  const [content] = texts(1) as [Buffer];
  const [seal] = sealsAs('secrets').sealAll('secrets', [content]) as [string];
  const reader = sealsAs('deployments');
  expect(() => reader.check(['secrets'], content, seal)).not.toThrow();
  expect(() => reader.check(['executions'], content, seal)).toThrow('secrets does not publish it');
  expect(() => reader.check(['secrets'], Buffer.from('message 1'), seal)).toThrow('its seal is wrong');
  const renamed = seal.replace('.secrets.', '.executions.');
  expect(() => reader.check(['executions'], content, renamed)).toThrow(UnknownKey);
  for (const none of [undefined, '', 7, 'a.b', `${seal}.x`, seal.replace('s1', 's2')])
    expect(() => reader.check(['secrets'], content, none)).toThrow(/no seal|cannot be read/);
  expect(() => sealsAs('secrets').sealAll('executions', [content])).toThrow('does not seal for executions');
});

test('the publisher itself takes what it has sealed, and nothing else', () => {
  const [content, other] = texts(2) as [Buffer, Buffer];
  const own = sealsAs('executions');
  const [seal] = own.sealAll('executions', [content]) as [string];
  expect(() => own.check(['executions'], content, seal)).not.toThrow();
  expect(() => own.check(['executions'], other, seal)).toThrow('its seal is wrong');
});

test('a node of the tree does not pass for a message', () => {
  const [seal] = sealsAs('secrets').sealAll('secrets', texts(2)) as [string];
  const [version, publisher, kid, , , signature] = seal.split('.');
  const cut = [version, publisher, kid, '', '', signature].join('.');
  expect(() => sealsAs('catalog').check(['secrets'], texts(1)[0]!, cut)).toThrow('its seal is wrong');
});

test('a message that waits while the key of its publisher is rotated stays good until the old key is retired', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-seal-keys-'));
  let ms = 1_800_000_000_000;
  const clock = { now: () => ms, monotonic: () => ms };
  const look = (): number => (ms += 1_000);
  try {
    makeKeys(dir);
    const open = (name: IdentityOwner): Seals => {
      const { identity, bundle } = trustFromFiles(name, keyFilesIn(dir, name), { log: silentLog, clock });
      return createSeals({ identityOf: () => identity, bundle });
    };
    const [sender, reader] = [open('identity'), open('gateway')];
    const [before, after] = texts(2) as [Buffer, Buffer];
    const [old] = sender.sealAll('identity', [before]);
    const { pending } = makeKeys(dir, { rotate: ['identity'] });
    look();
    adoptKeys(pending);
    look();
    const [fresh] = sender.sealAll('identity', [after]);
    expect(fresh!.split('.')[2]).not.toBe(old!.split('.')[2]);
    expect(() => reader.check(['identity'], before, old)).not.toThrow();
    expect(() => reader.check(['identity'], after, fresh)).not.toThrow();
    makeKeys(dir, { retire: ['identity'] });
    look();
    // It was checked before, but is not valid any more.
    expect(() => reader.check(['identity'], before, old)).toThrow(UnknownKey);
    expect(() => reader.check(['identity'], after, fresh)).not.toThrow();
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

import { createHash, randomBytes } from 'node:crypto';
import { silentLog, systemClock } from '@baton/kernel';
import { testNamespace, testUrls } from '@baton/testkit';
import { Redis } from 'ioredis';
import { createRedisCache } from './redis-cache';
import { createSealedTexts } from './sealed-texts';

const prefix = `${testNamespace()}:`;
const cache = createRedisCache({ url: testUrls.redis(), log: silentLog, prefix });
const neighbour = new Redis(testUrls.redis());
const key = randomBytes(32);
let nowMs = systemClock.now();
const textsUnder = (secret: Buffer) =>
  createSealedTexts({ cache, key: async () => secret, clock: { now: () => nowMs }, log: silentLog });
const texts = textsUnder(key);

beforeAll(() => cache.ping());
afterAll(async () => {
  await cache.close();
  neighbour.disconnect();
});

test('replicas with the same key read what one of them has put there, of any characters', async () => {
  for (const text of ['', 'a: 1\nb: [ü, "1:2"]\n', '\u0000'.repeat(5)]) {
    await texts.set('shared', text, 60_000);
    expect(await textsUnder(key).get('shared')).toBe(text);
  }
  expect(await texts.get('absent')).toBeNull();
});

test('what a neighbour in the same Redis writes is a miss: new, changed, moved, or put under a key of his own', async () => {
  await texts.set('mine', 'node_types: {}', 60_000);
  const kept = (await neighbour.get(`${prefix}mine`)) as string;
  const [until] = kept.split(':');
  const poisons = [
    'node_types: {evil: {}}',
    kept.replace('{}', '{evil: {}}'),
    kept.replace(until as string, String(Number(until) + 3_600_000)),
    `${until}:${createHash('sha256').update('evil').digest('hex')}:evil`,
    '',
    `${until}:${'0'.repeat(63)}:evil`,
  ];
  for (const poison of poisons) {
    await neighbour.set(`${prefix}mine`, poison);
    expect([poison, await texts.get('mine')]).toEqual([poison, null]);
  }
  await neighbour.set(`${prefix}other`, kept);
  expect(await texts.get('other')).toBeNull();
  await textsUnder(randomBytes(32)).set('mine', 'of another installation', 60_000);
  expect(await texts.get('mine')).toBeNull();
  await neighbour.set(`${prefix}mine`, kept);
  expect(await texts.get('mine')).toBe('node_types: {}');
});

test('an old text that is put back is not used beyond its time', async () => {
  await texts.set('old', 'version 1', 60_000);
  const kept = (await neighbour.get(`${prefix}old`)) as string;
  nowMs += 61_000;
  await neighbour.set(`${prefix}old`, kept);
  expect(await texts.get('old')).toBeNull();
});

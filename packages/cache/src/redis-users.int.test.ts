import { silentLog } from '@baton/kernel';
import { testNamespace, testUrls } from '@baton/testkit';
import { Redis } from 'ioredis';
import { createRedisCache } from './redis-cache';
import { redisRules, redisUsers } from './redis-users';

const namespace = testNamespace();
const services = Object.keys(redisUsers) as (keyof typeof redisUsers)[];
const admin = new Redis(testUrls.redis());
const userOf = (service: string) => `${namespace}-${service}`;
const urlOf = (service: string): string => {
  const url = new URL(testUrls.redis());
  url.username = userOf(service);
  url.password = 'password';
  return url.href;
};

beforeAll(async () => {
  for (const service of services)
    await admin.call(
      'ACL',
      'SETUSER',
      userOf(service),
      'on',
      '>password',
      ...redisRules(service, namespace).split(' '),
    );
});
afterAll(async () => {
  for (const service of services) await admin.call('ACL', 'DELUSER', userOf(service));
  admin.disconnect();
});

test('each service does with its user what it does, also after a reconnect', async () => {
  const open = (service: string) =>
    createRedisCache({ url: urlOf(service), log: silentLog, prefix: `${namespace}:` });
  const [gateway, catalog] = [open('gateway'), open('catalog')];
  await Promise.all([gateway.ping(), catalog.ping()]);
  expect([await gateway.increment('rate:1:x', 60_000), await gateway.increment('rate:1:x', 60_000)]).toEqual([
    1, 2,
  ]);
  await catalog.set('import:a', 'text', 60_000);
  expect(await catalog.get('import:a')).toBe('text');
  await Promise.all([gateway.close(), catalog.close()]);
});

test("neither reaches the other's keys, everybody's commands or the server", async () => {
  await admin.set(`${namespace}:import:a`, 'text', 'PX', 60_000);
  await admin.set(`${namespace}:rate:1:x`, '1', 'PX', 60_000);
  const tries: Record<string, string[][]> = {
    gateway: [
      ['get', `${namespace}:import:a`],
      ['set', `${namespace}:import:a`, 'poison'],
      ['incr', `${namespace}:import:a`],
    ],
    catalog: [
      ['get', `${namespace}:rate:1:x`],
      ['set', `${namespace}:rate:1:x`, '0'],
      ['set', 'of-somebody-else', 'x'],
    ],
  };
  const always = [
    ['keys', '*'],
    ['flushall'],
    ['config', 'get', '*'],
    ['eval', 'return 1', '0'],
    ['acl', 'list'],
    ['publish', 'x', 'y'],
    ['subscribe', 'x'],
    ['replicaof', 'no', 'one'],
  ];
  for (const service of services) {
    const redis = new Redis(urlOf(service));
    for (const [command, ...args] of [...tries[service]!, ...always])
      await expect(redis.call(command!, ...args)).rejects.toThrow(/NOPERM/);
    redis.disconnect();
  }
});

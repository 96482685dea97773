import { type Cache, createLocalCache } from '@baton/cache';
import { AppError } from '@baton/kernel';
import { createLoginGuard, type LoginGuard } from './login-guard';

const PASSWORD = 'right';
const wrong = new AppError('unauthorized_error', 'wrong');

/** Makes gateways with one clock and one cache; `tries` counts the logins that reached identity. */
function world(o: { gateways?: number; cache?: Cache; freeFailures?: number } = {}) {
  let nowMs = 1_000_000;
  const clock = { now: () => nowMs, monotonic: () => nowMs } as never;
  const cache = o.cache ?? createLocalCache();
  const settings = { freeFailures: o.freeFailures ?? 3, longestDelayMs: 60_000 };
  const guards = Array.from({ length: o.gateways ?? 1 }, () => createLoginGuard({ cache, clock, settings }));
  const seen = { tries: 0 };
  const login = async (
    username: string,
    password: string,
    address = '192.0.2.1',
    guard: LoginGuard = guards[0]!,
  ) => {
    try {
      await guard.guard({ username, password, address }, async () => {
        seen.tries += 1;
        await new Promise((resolve) => setImmediate(resolve));
        if (password !== PASSWORD) throw wrong;
      });
      return 200;
    } catch (error) {
      const { entry, details } = error as AppError;
      return entry.http === 429 ? `429 ${details.scope} ${details.retry_after}` : entry.http;
    }
  };
  const guess = async (count: number, username: string, address?: string, guard?: LoginGuard) => {
    const answers: unknown[] = [];
    for (let i = 0; i < count; i++)
      answers.push(await login(username, `guess ${Math.random()}`, address, guard));
    return answers;
  };
  return { login, guess, guards, seen, pass: (ms: number) => (nowMs += ms) };
}

test('each failure beyond the free ones doubles the delay, and what is tried meanwhile is not looked at', async () => {
  const { guess, seen, pass, login } = world();
  expect(await guess(4, 'bob')).toEqual([401, 401, 401, 401]);
  const delayed = [1, 2, 4, 8, 16, 32, 60, 60];
  for (const seconds of delayed) {
    expect(await guess(2, 'bob')).toEqual(Array(2).fill(`429 account and address ${seconds}`));
    pass(seconds * 1_000);
    expect(await guess(1, 'bob')).toEqual([401]);
  }
  expect(seen.tries).toBe(4 + delayed.length);
  pass(60_000);
  expect(await login('bob', PASSWORD)).toBe(200);
  expect(await guess(3, 'bob')).toEqual([401, 401, 401]);
});

test('tries at the same time count before they have failed', async () => {
  const { login, seen } = world();
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => login('bob', `guess ${i}`)));
  expect(answers.filter((answer) => answer === 401)).toHaveLength(3);
  expect(seen.tries).toBe(3);
  // The same password in many concurrent requests counts as one try.
  const same = await Promise.all(Array.from({ length: 60 }, () => login('carol', PASSWORD)));
  expect(new Set(same)).toEqual(new Set([200]));
});

test('a stranger locks nobody out: neither where he has logged in before nor with a password that was good', async () => {
  const { guess, login, guards, pass } = world({ gateways: 2 });
  // The other gateway has not seen the password itself; it learns from the cache that the account has logged in from there.
  const other = guards[1];
  const home = '198.51.100.7';
  expect(await login('bob', PASSWORD, home)).toBe(200);
  // From 40 addresses: more than the free failures of the account.
  for (let i = 0; i < 40; i++) await guess(2, 'bob', `192.0.2.${i}`, other);
  expect(await login('bob', PASSWORD, '203.0.113.5', other)).toMatch(/^429 account \d+$/);
  expect(await login('bob', PASSWORD, home, other)).toBe(200);
  // The stranger uses the same address; a login with the known good password still succeeds.
  await guess(10, 'bob', home);
  expect(await login('bob', PASSWORD, home)).toBe(200);
  pass(60_000);
  expect(await login('bob', PASSWORD, '203.0.113.5', other)).toBe(200);
});

test('names in turn from one address are slowed as well, whether they exist or not', async () => {
  const { guess, login } = world();
  const answers: unknown[] = [];
  for (let i = 0; i < 40; i++) answers.push(...(await guess(1, `name${i}`)));
  expect(answers.slice(0, 31)).toEqual(Array(31).fill(401));
  expect(answers.at(-1)).toBe('429 address 1');
  expect(await login('carol', PASSWORD, '203.0.113.5')).toBe(200);
});

test('several gateways count together, and each alone while the cache is away', async () => {
  const two = world({ gateways: 2 });
  await two.guess(4, 'bob', undefined, two.guards[0]);
  expect(await two.guess(1, 'bob', undefined, two.guards[1])).toEqual(['429 account and address 1']);
  const away: Cache = {
    ...createLocalCache(),
    get: async () => null,
    set: async () => undefined,
    increment: async () => 0,
  };
  const alone = world({ cache: away });
  expect(await alone.guess(5, 'bob')).toEqual([401, 401, 401, 401, '429 account and address 1']);
});

test('none are delayed where that is switched off', async () => {
  const { guess } = world({ freeFailures: 0 });
  expect(new Set(await guess(50, 'bob'))).toEqual(new Set([401]));
});

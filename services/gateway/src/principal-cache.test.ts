import type { Principal } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import { createPrincipalCache } from './principal-cache';

const principal = (username: string): Principal => ({
  userId: 1,
  username,
  tenant: '',
  role: 'default',
  roles: [],
  permissions: ['p'],
  tenants: [],
  authMethod: 'token',
  executionId: '',
  isBootstrapAdmin: false,
});
let nowMs = 0;
const clock = { now: () => nowMs, monotonic: () => nowMs };
const answer = (username: string) => async () => ({ principal: principal(username), cacheMs: 1000 });

test('an answer is reused until its time is over', async () => {
  const cache = createPrincipalCache(clock);
  const first = await cache.get(['a'], answer('bob'));
  nowMs += 749;
  expect(await cache.get(['a'], answer('other'))).toBe(first);
  nowMs += 251;
  expect((await cache.get(['a'], answer('other'))).principal.username).toBe('other');
});

describe('in the last quarter of its time', () => {
  /** Asks for the caller at 750 ms with `renewal` as the load function, and waits until the renewal is done. */
  async function renewed(renewal: Parameters<ReturnType<typeof createPrincipalCache>['get']>[1]) {
    const cache = createPrincipalCache(clock);
    const first = await cache.get(['a'], answer('bob'));
    nowMs += 750;
    let asked = 0;
    const ask = () => {
      asked += 1;
      return renewal();
    };
    for (let i = 0; i < 3; i++) expect(cache.get(['a'], ask)).toBe(first);
    await new Promise(setImmediate);
    expect(asked).toBe(1);
    return { first, now: (ask = answer('never')) => cache.get(['a'], ask) };
  }

  test('it is renewed once, while nobody waits', async () => {
    const { now } = await renewed(answer('bob renewed'));
    nowMs += 700;
    expect((await now()).principal.username).toBe('bob renewed');
  });

  test('a refusal is heard by the next request', async () => {
    const { now } = await renewed(() => Promise.reject(new AppError('unauthorized_error', 'gone')));
    expect((await now(answer('asked anew'))).principal.username).toBe('asked anew');
  });

  test('when nobody answers it stays to its end, and no longer', async () => {
    const { first, now } = await renewed(() =>
      Promise.reject(new AppError('service_unavailable_error', 'away')),
    );
    expect(now()).toBe(first);
    nowMs += 250;
    expect((await now(answer('asked anew'))).principal.username).toBe('asked anew');
  });
});

test('words that join to the same text are different keys', async () => {
  const cache = createPrincipalCache(clock);
  await cache.get(['ab', 'c'], answer('one'));
  expect((await cache.get(['a', 'bc'], answer('two'))).principal.username).toBe('two');
});

test('what was asked before a change is not kept after it', async () => {
  const cache = createPrincipalCache(clock);
  let release!: () => void;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const early = cache.get(['a'], async () => {
    await gate;
    return answer('bob')();
  });
  cache.forget('someone');
  const late = cache.get(['a'], answer('bob the second'));
  release();
  expect((await early).principal.username).toBe('bob');
  expect((await late).principal.username).toBe('bob the second');
  expect((await cache.get(['a'], answer('third'))).principal.username).toBe('bob the second');
});

test('a change drops the named user only, in any letter case; no name drops all', async () => {
  const cache = createPrincipalCache(clock);
  const bob = await cache.get(['b'], answer('Bob'));
  const eve = await cache.get(['e'], answer('eve'));
  cache.forget('bOB');
  expect(await cache.get(['e'], answer('x'))).toBe(eve);
  expect(await cache.get(['b'], answer('Bob'))).not.toBe(bob);
  cache.forget('');
  expect(await cache.get(['e'], answer('eve'))).not.toBe(eve);
});

test('a refusal is not remembered and many askers ask once', async () => {
  const cache = createPrincipalCache(clock);
  await expect(cache.get(['a'], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return answer('bob')();
  };
  await Promise.all([cache.get(['a'], ask), cache.get(['a'], ask), cache.get(['a'], ask)]);
  expect(asked).toBe(1);
});

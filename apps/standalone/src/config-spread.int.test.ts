import { eventually } from '@baton/testkit';
import { startTestManager, type TestManager } from './testing/test-manager';

const ADMIN = 'the administrator of this test';
/** One second, plus reserve for a busy machine; the repairing loops run only every 10 s. */
const SOON = { deadlineMs: 3_000 };

let manager: TestManager;
beforeAll(async () => {
  manager = await startTestManager(ADMIN);
}, 120_000);
afterAll(() => manager?.close(), 60_000);

const put = async (name: string, value: number) => {
  expect((await manager.call('PUT', `/config/${name}`, { value })).status).toBe(200);
};

test('a page size is the one of lists soon after it was set', async () => {
  for (const size of [1, 7, 3]) {
    await put('rest.default_page_size', size);
    await eventually(
      async () => (await manager.call('GET', '/deployments')).body.metadata.pagination.size === size,
      SOON,
    );
  }
}, 30_000);

test('accounts are locked by what was set a moment ago', async () => {
  const as = { user: 'ann', password: 'a password of ann' };
  await manager.call('PUT', '/users', { username: as.user, password: as.password, role: 'default' });
  await put('rest.account_lock_period', 10);
  await put('rest.failed_logins_before_account_lock', 1);
  await eventually(async () => {
    await manager.call('GET', '/user', undefined, { user: 'ann', password: 'not hers' });
    return (await manager.call('GET', '/users/ann')).body.is_locked === true;
  }, SOON);
}, 30_000);

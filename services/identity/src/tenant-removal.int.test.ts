import { clearTenantStep } from './commands/clear-tenants';
import { removeTenant } from './commands/delete-tenant';
import { emptyTenants, startTestIdentity, type TestIdentity } from './testing-identity';

let identity: TestIdentity;
const { call, principal } = {
  call: (...args: Parameters<TestIdentity['call']>) => identity.call(...args),
  principal: (...args: Parameters<TestIdentity['principal']>) => identity.principal(...args),
};
beforeAll(async () => {
  identity = await startTestIdentity();
});
afterAll(() => identity.stop());

test('a tenant with contents elsewhere is not deleted and stays open', async () => {
  await call('POST', '/tenants/full', {});
  const opened: string[] = [];
  const open = async (name: string) => void opened.push(name);
  const deps = {
    db: identity.db,
    tenantParts: { ...emptyTenants, close: async () => ['2 blueprints'], open },
  };
  await expect(removeTenant(deps, 'full')).rejects.toMatchObject({
    code: 'illegal_action_error',
    details: { contents: ['2 blueprints'] },
  });
  expect((await principal('admin', 'admin', 'full')).tenant).toBe('full');
  const away = async () => Promise.reject(new Error('away'));
  const broken = { db: identity.db, tenantParts: { ...emptyTenants, close: away, open } };
  await expect(removeTenant(broken, 'full')).rejects.toThrow('away');
  expect(opened).toEqual(['full', 'full']);
  expect((await principal('admin', 'admin', 'full')).tenant).toBe('full');
});

describe('what a removed tenant left', () => {
  const clearing = (answers: (number | Error)[], calls: string[] = []) => ({
    db: identity.db,
    tenantParts: {
      clear: async (tenant: string) => {
        calls.push(tenant);
        const answer = answers.shift() ?? 0;
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  });
  const state = async (name: string) =>
    (
      await identity.db.pool.query(
        'select cleared_at is not null as is_cleared, clear_after <= app_now() as is_due from former_tenants where name = $1',
        [name],
      )
    ).rows[0];
  const pass = (interval: string) =>
    identity.db.pool.query(
      `update former_tenants set removed_at = removed_at - $1::interval, clear_after = clear_after - $1::interval`,
      [interval],
    );

  test('goes in parts, is looked for again later, and then is done with', async () => {
    await call('POST', '/tenants/leaving', {});
    // Not through the service, which would look at once beside the steps of this test.
    await removeTenant({ db: identity.db, tenantParts: emptyTenants }, 'leaving');
    await pass('5 minutes');
    const calls: string[] = [];
    await clearTenantStep(clearing([1000, 1000, 3], calls));
    expect(calls).toEqual(['leaving', 'leaving', 'leaving', 'leaving']);
    expect(await state('leaving')).toEqual({ is_cleared: false, is_due: false });
    expect(await clearTenantStep(clearing([]))).toBeNull();
    await pass('6 minutes');
    await clearTenantStep(clearing([]));
    expect((await state('leaving')).is_cleared).toBe(true);
    await pass('1 day');
    expect(await clearTenantStep(clearing([]))).toBeNull();
  });

  test('is looked for again after a service was away, or the process died', async () => {
    await call('POST', '/tenants/leaving', {});
    // Not through the service, which would look at once beside the steps of this test.
    await removeTenant({ db: identity.db, tenantParts: emptyTenants }, 'leaving');
    await pass('1 hour');
    await expect(clearTenantStep(clearing([new Error('away')]))).rejects.toThrow('away');
    // Nobody else has it until the lease has ended.
    expect(await clearTenantStep(clearing([]))).toBeNull();
    await pass('2 minutes 1 second');
    await clearTenantStep(clearing([7, 0]));
    expect((await state('leaving')).is_cleared).toBe(true);
    expect((await call('POST', '/tenants/leaving', {})).status).toBe(201);
    expect(await state('leaving')).toBeUndefined();
  });
});

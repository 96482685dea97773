import { silentLog } from '@baton/kernel';
import { examineTables } from '@baton/snapshot-part';
import { clearTenantStep } from './commands/clear-tenants';
import { removeTenant, reopenAbandonedTenants } from './commands/delete-tenant';
import { doctorChecks } from './store/doctor.sql';
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
    log: silentLog,
    tenantParts: {
      clear: async (tenant: string) => {
        calls.push(tenant);
        const answer = answers.shift() ?? 0;
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  });
  const running = new AbortController().signal;
  const step = (answers: (number | Error)[], calls?: string[]) =>
    clearTenantStep(clearing(answers, calls), running);
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
    // Not through the service, which would start the removal of leftovers beside the steps of this test.
    await removeTenant({ db: identity.db, tenantParts: emptyTenants }, 'leaving');
    const calls: string[] = [];
    await step([1000, 1000, 3], calls);
    expect(calls).toEqual(['leaving', 'leaving', 'leaving', 'leaving']);
    expect(await state('leaving')).toEqual({ is_cleared: false, is_due: false });
    expect(await step([])).toBeNull();
    // Late arrivals are removed soon: the first looks follow each other closely.
    await pass('11 seconds');
    await step([2, 0]);
    expect(await state('leaving')).toEqual({ is_cleared: false, is_due: false });
    await pass('10 minutes');
    await step([]);
    expect((await state('leaving')).is_cleared).toBe(true);
    await pass('1 day');
    expect(await step([])).toBeNull();
  });

  test('is looked for again after a service was away, or the process died', async () => {
    await call('POST', '/tenants/leaving', {});
    // Not through the service, which would start the removal of leftovers beside the steps of this test.
    await removeTenant({ db: identity.db, tenantParts: emptyTenants }, 'leaving');
    await pass('1 hour');
    // The lease is released for a moment only: an unavailable service may be back soon.
    expect(await step([new Error('away')])).toBe(2_000);
    expect(await step([])).toBeNull();
    await pass('3 seconds');
    // Simulates a crash in the middle: no replica can take the tenant until the short lease has expired.
    const { rows } = await identity.db.pool.query(
      `update former_tenants set clear_after = app_now() + interval '15 seconds' where name = 'leaving' returning name`,
    );
    expect(rows).toHaveLength(1);
    expect(await step([])).toBeNull();
    await pass('16 seconds');
    expect(await step([7, 0])).toBe(0);
    expect((await state('leaving')).is_cleared).toBe(true);
    expect((await call('POST', '/tenants/leaving', {})).status).toBe(201);
    expect(await state('leaving')).toBeUndefined();
  });
});

test('the doctor opens a tenant whose removal broke off, and frees remains that are held for ever', async () => {
  const { db } = identity;
  const checks = doctorChecks(() => reopenAbandonedTenants({ db, tenantParts: emptyTenants }));
  const examine = (isRepairing: boolean) => examineTables({ db, log: silentLog, checks }, isRepairing);
  expect(await examine(true)).toEqual([]);
  await call('POST', '/tenants/half-gone', {});
  await db.pool.query(
    `update tenants set closing_since = app_now() - interval '1 hour' where name = 'half-gone'`,
  );
  await db.pool.query(
    `insert into former_tenants (name, clear_after) values ('remains', app_now() + interval '1 year')`,
  );
  expect((await examine(false)).map((one) => one.check)).toEqual(['tenant-closing', 'remains-held']);
  expect((await examine(true)).map((one) => one.isRepaired)).toEqual([true, true]);
  expect(await examine(false)).toEqual([]);
  expect((await principal('admin', 'admin', 'half-gone')).tenant).toBe('half-gone');
});

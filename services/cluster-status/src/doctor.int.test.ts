import { silentLog } from '@baton/kernel';
import { examineTables } from '@baton/snapshot-part';
import { doctorChecks } from './store/doctor.sql';
import { admin, startCluster } from './testing/cluster-setup';

const as = { ...admin, tenant: 'default_tenant' };
let cluster: Awaited<ReturnType<typeof startCluster>>;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.close());

const run = (text: string, values: unknown[] = []) => cluster.db.pool.query(text, values);
const examine = (isRepairing: boolean) =>
  examineTables({ db: cluster.db, log: silentLog, checks: doctorChecks }, isRepairing);
async function repairs(check: string): Promise<void> {
  expect((await examine(false)).map((one) => one.check)).toEqual([check]);
  expect(await examine(true)).toMatchObject([{ check, isRepaired: true, error: '' }]);
  expect(await examine(false)).toEqual([]);
}
const snapshot = (id: string, since: string) =>
  run(
    `insert into snapshots (tenant, id, status, created_by, created_at)
     values ('default_tenant', $1, 'creating', 'admin', app_now() - $2::interval)`,
    [id, since],
  );
const job = (id: string, until: string) =>
  run(
    `insert into snapshot_jobs (id, kind, tenant, snapshot_id, created_by, options, lease_owner, lease_until)
     values (gen_random_uuid(), 'create', 'default_tenant', $1, 'admin', '{}', 'somebody', app_now() + $2::interval)`,
    [id, until],
  );

it('fails a snapshot that nobody makes, so that it can be deleted', async () => {
  await snapshot('worked-on', '1 hour');
  await job('worked-on', '10 seconds');
  await snapshot('new', '1 second');
  expect(await examine(true)).toEqual([]);
  await snapshot('stuck', '1 hour');
  await repairs('snapshot-stuck');
  const { body } = await cluster.call('GET', '/snapshots/stuck', { as });
  expect(body).toMatchObject({ status: 'failed', error: expect.stringContaining('without an outcome') });
  expect((await cluster.call('DELETE', '/snapshots/stuck', { as })).status).toBe(204);
});

it('frees work on a snapshot that is held for ever', async () => {
  await job('worked-on', '1 year');
  await repairs('snapshot-held');
});

it('has a log bundle made that nobody looks at, or that is held for ever', async () => {
  await run(
    `insert into log_bundles (tenant, id, status, created_by, job_id, is_reported)
     values ('default_tenant', 'forgotten', 'creating', 'admin', gen_random_uuid(), true)`,
  );
  await repairs('log-bundle-stuck');
  await run(`update log_bundles set lease_owner = 'somebody', lease_until = app_now() + interval '1 year'`);
  await repairs('log-bundle-held');
  cluster.carried.status = 'started';
  await cluster.tick('drive-log-bundles');
  const { rows } = await run('select status, is_reported from log_bundles');
  expect(rows).toEqual([{ status: 'created', is_reported: true }]);
});

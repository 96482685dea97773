import { newId, silentLog } from '@baton/kernel';
import { examineTables } from '@baton/snapshot-part';
import { doctorChecks } from './store/doctor.sql';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
const tenant = 'default_tenant';
beforeAll(async () => {
  test = await startTestDeployments();
  for (const id of ['a', 'b']) await test.create(id, { blueprint_id: 'plugged' });
}, 60_000);
afterAll(() => test.stop());

const run = (text: string, values: unknown[] = []) => test.db.pool.query(text, values);
const examine = (isRepairing: boolean) =>
  examineTables({ db: test.db, log: silentLog, checks: doctorChecks(test.db) }, isRepairing);
/** Checks that an examination finds the fault, that the repair mends it, and that it is gone then. */
async function repairs(check: string): Promise<void> {
  expect((await examine(false)).map((one) => one.check)).toEqual([check]);
  expect(await examine(true)).toMatchObject([{ check, isRepaired: true, error: '' }]);
  expect(await examine(false)).toEqual([]);
}

it('finds nothing in sound tables', async () => {
  expect(await examine(true)).toEqual([]);
});

it('counts deployments, nodes and node instances again', async () => {
  const total = async () => (await test.call('GET', '/node-instances')).body.metadata.pagination.total;
  const before = await total();
  await run(`update row_counts set total = total + 7 where kind = 'node_instances'`);
  await run(`delete from row_counts where kind = 'deployments'`);
  await repairs('total-wrong');
  expect(await total()).toBe(before);
  expect((await test.call('GET', '/deployments')).body.metadata.pagination.total).toBe(2);
});

it('deletes dependencies that lead nowhere, and no others', async () => {
  const insert = (target: string | null, func: string | null) =>
    run(
      `insert into inter_deployment_dependencies (id, tenant, dependency_creator, source_key, target_key, target_deployment_func, visibility, created_by)
       select $1, tenant, 'component.x', key, (select key from deployments where id = $2), $3::json, visibility, created_by
       from deployments where id = 'a'`,
      [newId(), target, func],
    );
  await insert('b', null);
  await insert(null, '{"get_attribute": ["a", "b"]}');
  expect(await examine(false)).toEqual([]);
  await insert(null, null);
  await repairs('dependency-orphaned');
  const { rows } = await run('select count(*)::int as n from inter_deployment_dependencies');
  expect(rows).toEqual([{ n: 2 }]);
});

it('fails an update whose execution has ended', async () => {
  const { body } = await test.call('PUT', '/deployment-updates/a/update/initiate', {
    blueprint_id: 'plugged-too',
  });
  const { rows } = await run('select execution_id from deployment_updates where id = $1', [body.id]);
  await run(
    `update deployments set latest_execution = $1, latest_status = 'started', latest_at = app_now() - interval '1 hour' where id = 'a'`,
    [rows[0].execution_id],
  );
  expect(await examine(false)).toEqual([]);
  await run(`update deployments set latest_status = 'terminated' where id = 'a'`);
  await repairs('update-stuck');
  const read = await test.call('GET', `/deployment-updates/${body.id}`);
  expect(read.body.state).toBe('failed');
});

it('takes a plugins update from who holds it for ever', async () => {
  const insert = (id: string, until: string) =>
    run(
      `insert into plugins_updates (id, tenant, blueprint_id, temp_blueprint_id, visibility, created_by, is_administrator, forced,
         all_tenants, selection, auto_correct_types, lease_owner, lease_until)
       values ($1, $2, 'none', $1, 'tenant', 'admin', true, false, false, '{}', false, 'somebody', app_now() + $3::interval)`,
      [id, tenant, until],
    );
  await insert('soon', '15 seconds');
  expect(await examine(false)).toEqual([]);
  await insert('held', '1 year');
  await repairs('plugins-update-held');
  const { rows } = await run(
    `select lease_until <= app_now() as is_free from plugins_updates where id = 'held'`,
  );
  expect(rows).toEqual([{ is_free: true }]);
});

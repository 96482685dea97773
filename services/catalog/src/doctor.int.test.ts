import { silentLog } from '@baton/kernel';
import { examineTables } from '@baton/snapshot-part';
import { giveUpUpload } from './commands/give-up-upload';
import { doctorChecks } from './store/doctor.sql';
import { startCatalog, type TestCatalog } from './testing/catalog-setup';

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startCatalog();
});
afterAll(() => catalog.close());

const examine = (isRepairing: boolean) => {
  const checks = doctorChecks((id) => giveUpUpload({ db: catalog.db }, id));
  return examineTables({ db: catalog.db, log: silentLog, checks }, isRepairing);
};
const insert = (id: string, leaseUntil: string | null, updated = '0 seconds') =>
  catalog.db.pool.query(
    `insert into blueprints (tenant, id, upload_id, created_by, creator_id, visibility, state, upload_execution_id, lease_owner,
       lease_until, updated_at, attempts)
     values ('default_tenant', $1, gen_random_uuid(), 'ann', 3, 'tenant', 'uploading', gen_random_uuid(), 'dead',
       app_now() + $2::interval, app_now() - $3::interval, 1)`,
    [id, leaseUntil, updated],
  );
async function repairs(check: string): Promise<void> {
  expect((await examine(false)).map((one) => one.check)).toEqual([check]);
  expect(await examine(true)).toMatchObject([{ check, isRepaired: true, error: '' }]);
  expect(await examine(false)).toEqual([]);
}

it('leaves uploads alone that somebody is at work on, or that have just been left', async () => {
  await insert('working', '15 seconds', '20 minutes');
  await insert('left', '-20 seconds');
  expect(await examine(true)).toEqual([]);
});

it('frees an upload that is leased for ever', async () => {
  await insert('held', '1 year');
  await repairs('upload-held');
});

it('ends an upload that nobody goes on with, and tells its execution', async () => {
  await insert('stuck', null, '1 hour');
  await repairs('upload-stuck');
  const { body } = await catalog.call('GET', '/blueprints/stuck');
  expect([body.state, body.error]).toEqual(['failed_uploading', 'Given up: nobody went on with it']);
  const { rows } = await catalog.db.pool.query(
    `select envelope->'payload'->>'status' as status from outbox where envelope->'payload'->>'blueprintId' = 'stuck'`,
  );
  expect(rows).toEqual([{ status: 'failed' }]);
});

import { sql } from 'kysely';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  test.peers.values.set('token', { value: 'sesame' });
});
afterAll(() => test.stop());

/** Sets the age of the waiting archives. */
const setAge = (age: string) =>
  sql`update waiting_workdirs set created_at = app_now() - ${age}::interval`.execute(test.db.query);

it('the working folder comes with a deployment only when it is asked for, as a zip in base64', async () => {
  for (const id of ['worked', 'idle']) await test.create(id, { blueprint_id: 'hello', inputs: { must: 1 } });
  expect((await test.call('GET', '/deployments/worked')).body.workdir_zip).toBeNull();
  const { body } = await test.call('GET', '/deployments/worked?include_workdir=true');
  expect(Buffer.from(body.workdir_zip, 'base64').toString()).toBe('a zip');
  expect(body).toMatchObject({ id: 'worked', blueprint_id: 'hello' });
  expect((await test.call('GET', '/deployments/idle?include_workdir=true')).body.workdir_zip).toBeNull();
  const cut = await test.call('GET', '/deployments/worked?include_workdir=true&_include=id,workdir_zip');
  expect(Object.keys(cut.body).sort()).toEqual(['id', 'workdir_zip']);
});

it('a deployment is made with the files that its folder held, or not at all', async () => {
  const put = (id: string, workdir_zip: unknown, query = '') =>
    test.call('PUT', `/deployments/${id}${query}`, {
      blueprint_id: 'hello',
      inputs: { must: 1 },
      workdir_zip,
    });
  const workdir = Buffer.from('its files').toString('base64');
  expect((await put('moved', workdir)).status).toBe(201);
  const { body } = await test.call('GET', '/deployments/moved?include_workdir=true&_include=workdir_zip');
  expect(body.workdir_zip).toBe(workdir);
  expect(await put('broken', Buffer.from('no archive').toString('base64'))).toMatchObject({ status: 400 });
  expect(await put('broken', 'not base64!')).toMatchObject({ status: 400, body: { field: 'workdir_zip' } });
  expect(await put('broken', workdir, '?async_create=true')).toMatchObject({
    status: 400,
    body: { error_code: 'deployment_creation_error' },
  });
  expect((await test.call('GET', '/deployments/broken')).status).toBe(404);
});

it('a creation that died before its files were unpacked is brought to its end, once', async () => {
  const workdir_zip = Buffer.from('left behind').toString('base64');
  const body = { blueprint_id: 'hello', inputs: { must: 1 }, workdir_zip };
  const zipOf = async (id: string) =>
    (await test.call('GET', `/deployments/${id}?include_workdir=true&_include=workdir_zip`)).body.workdir_zip;
  const { tickOnce } = test.parts.loops.find((loop) => loop.name === 'unpack-workdirs')!;
  test.catalog.isUnpacking = false;
  expect((await test.call('PUT', '/deployments/orphan', body)).status).toBe(503);
  expect((await test.call('GET', '/deployments/orphan')).status).toBe(200);
  expect(await zipOf('orphan')).toBeNull();
  await setAge('5 seconds');
  // Its request may still be running.
  expect(await tickOnce()).toBe(0);
  await setAge('1 minute');
  expect(await tickOnce()).toBe(0);
  test.catalog.isUnpacking = true;
  expect(await tickOnce()).toBe(1);
  expect(await zipOf('orphan')).toBe(workdir_zip);
  expect(await tickOnce()).toBe(0);
});

it('what the catalog refuses for good, or has had no place for a day long, is given up; a deleted deployment takes it along', async () => {
  const body = (text: string) => ({
    blueprint_id: 'hello',
    inputs: { must: 1 },
    workdir_zip: Buffer.from(text).toString('base64'),
  });
  test.catalog.isUnpacking = false;
  for (const id of ['refused', 'late', 'deleted'])
    expect((await test.call('PUT', `/deployments/${id}`, body('some files'))).status).toBe(503);
  await sql`update waiting_workdirs set archive = 'no archive' where deployment_key = (select key from deployments where id = 'refused')`.execute(
    test.db.query,
  );
  await setAge('2 days');
  await sql`delete from deployments where id = 'deleted'`.execute(test.db.query);
  const { tickOnce } = test.parts.loops.find((loop) => loop.name === 'unpack-workdirs')!;
  expect(await tickOnce()).toBe(0);
  const left = await sql`select from waiting_workdirs`.execute(test.db.query);
  expect(left.rows).toEqual([]);
  test.catalog.isUnpacking = true;
});

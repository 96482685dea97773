import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  test.peers.values.set('token', { value: 'sesame' });
});
afterAll(() => test.stop());

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

// The main path through the API alone, for any kind of manager.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError, type Client } from '@baton/client';
import { eventually } from '@baton/testkit/eventually';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  fleet = await startE2eFleet({
    env: { BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
});
afterAll(async () => await fleet?.stop());

const examples = join(__dirname, '../../examples');

describe('the hello example', () => {
  test('from upload to outputs, and away again', async () => {
    await call(client, 'putSecret', { secret_key: 'hello_signature' }, { value: 'signed-by-e2e' });
    const blueprint = await upload(client, 'hello', archiveOf(join(examples, 'hello')));
    expect(blueprint).toMatchObject({
      id: 'hello',
      main_file_name: 'blueprint.yaml',
      tenant_name: 'default_tenant',
    });
    const deployment = await call(
      client,
      'createDeployment',
      { id: 'hello' },
      { blueprint_id: 'hello', inputs: { audience: 'e2e' } },
    );
    expect(deployment).toMatchObject({
      id: 'hello',
      inputs: { greeting: 'Hello', audience: 'e2e' },
    });

    const install = await follow(client, 'hello', 'install');
    expect(install.status).toBe('terminated');
    expect(install.messages).toContain('the page says: Hello, e2e!');

    const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'hello' });
    const page = await fetch(outputs.url);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('signed signed-by-e2e');
    expect(await call(client, 'getDeployment', { id: 'hello' })).toMatchObject({
      installation_status: 'active',
      deployment_status: 'good',
    });
    const instances = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'hello' });
    expect(instances.items.map((instance: { state: string }) => instance.state)).toEqual([
      'started',
      'started',
      'started',
    ]);

    await expect(call(client, 'deleteDeployment', { id: 'hello' })).rejects.toMatchObject({
      errorCode: 'dependent_exists_error',
    });
    expect((await follow(client, 'hello', 'uninstall')).status).toBe('terminated');
    await expect(fetch(outputs.url)).rejects.toThrow();
    await call(client, 'deleteDeployment', { id: 'hello' });
    await gone(() => call(client, 'getDeployment', { id: 'hello' }));
    await call(client, 'deleteBlueprint', { blueprint_id: 'hello' });
    await gone(() => call(client, 'getBlueprint', { blueprint_id: 'hello' }));
  });

  test('the secret is stored encrypted, shown once asked for, and in no event', async () => {
    const events = await call(client, 'listEvents', {}, undefined, { _size: 10_000 });
    expect(JSON.stringify(events)).not.toContain('signed-by-e2e');
    expect(await call(client, 'getSecret', { secret_key: 'hello_signature' })).toMatchObject({
      value: 'signed-by-e2e',
    });
  });
});

describe('the fleet example', () => {
  test('50 members are installed; the stream has every event once and ends', async () => {
    await upload(client, 'fleet', archiveOf(join(examples, 'fleet')));
    await call(client, 'createDeployment', { id: 'fleet' }, { blueprint_id: 'fleet' });
    const install = await follow(client, 'fleet', 'install');
    expect(install.status).toBe('terminated');
    const execution = await call(client, 'getExecution', { executionId: install.id });
    expect(execution.finished_operations).toBe(execution.total_operations);
    expect(install.ids).toEqual(install.ids.map((_, i) => String(i + 1)));
    const listed = await call(client, 'listEvents', {}, undefined, { execution_id: install.id, _size: 1 });
    expect(listed.metadata.pagination.total).toBe(install.ids.length);
    const instances = await call(client, 'listNodeInstances', {}, undefined, {
      deployment_id: 'fleet',
      state: 'started',
      _size: 1,
    });
    expect(instances.metadata.pagination.total).toBe(51);
  });

  test('a second execution is refused, queued or forced while one runs; cancel ends it', async () => {
    await upload(client, 'slow', archiveOf(join(__dirname, 'blueprints/slow')));
    await call(client, 'createDeployment', { id: 'slow' }, { blueprint_id: 'slow' });
    const running = await call(
      client,
      'startExecution',
      {},
      { deployment_id: 'slow', workflow_id: 'install' },
    );
    await expect(
      call(client, 'startExecution', {}, { deployment_id: 'slow', workflow_id: 'install' }),
    ).rejects.toMatchObject({
      status: 400,
      errorCode: 'existing_running_execution_error',
    });
    const queued = await call(
      client,
      'startExecution',
      {},
      { deployment_id: 'slow', workflow_id: 'install', queue: true },
    );
    expect(queued.status).toBe('queued');
    const why = await call(client, 'explainExecution', { executionId: queued.id });
    expect(why.waiting_for[0]).toMatchObject({ kind: 'lock', details: { execution_id: running.id } });
    await call(client, 'actOnExecution', { executionId: queued.id }, { action: 'cancel' });
    await call(client, 'actOnExecution', { executionId: running.id }, { action: 'force-cancel' });
    for (const { id } of [queued, running]) {
      await settled(async () =>
        expect((await call(client, 'getExecution', { executionId: id })).status).toBe('cancelled'),
      );
    }
  });
});

describe('answers', () => {
  test('a blueprint with several errors is refused with all of them, each with its place', async () => {
    const archive = archiveOf(join(__dirname, 'blueprints/broken'));
    const refused: ApiError = await upload(client, 'broken', archive).then(
      () => Promise.reject(new Error('it was accepted')),
      (error: ApiError) => error,
    );
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ status: 400, errorCode: 'invalid_blueprint_error' });
    const diagnostics = refused.details.diagnostics as { line: number; message: string }[];
    const text = readFileSync(join(__dirname, 'blueprints/broken/blueprint.yaml'), 'utf8').split('\n');
    const wanted = text.flatMap((line, i) => (line.includes('# wrong') ? [i + 1] : []));
    expect(wanted.length).toBeGreaterThan(1);
    for (const line of wanted) expect(diagnostics.map((d) => d.line)).toContain(line);
  });

  test('credentials, tenants, unknown fields and routes answer JSON with their codes', async () => {
    const get = async (path: string, headers: Record<string, string>) => {
      const response = await fetch(`${fleet.baseUrl}/api/v3.1${path}`, { headers });
      return [response.status, ((await response.json()) as { error_code: string }).error_code];
    };
    const admin = {
      authorization: `Basic ${Buffer.from(`admin:${fleet.adminPassword}`).toString('base64')}`,
    };
    const tenant = { tenant: 'default_tenant' };
    expect(await get('/blueprints', tenant)).toEqual([401, 'unauthorized_error']);
    expect(await get('/blueprints', { ...admin, tenant: 'nowhere' })).toEqual([403, 'forbidden_error']);
    expect(await get('/blueprints?_include=id,nope', { ...admin, ...tenant })).toEqual([
      400,
      'no_such_include_field_error',
    ]);
    expect(await get('/blueprints?nope=1', { ...admin, ...tenant })).toEqual([400, 'bad_parameters_error']);
    expect(await get('/deployments/none', { ...admin, ...tenant })).toEqual([404, 'not_found_error']);
    expect((await get('/nonsense', { ...admin, ...tenant }))[0]).toBe(404);
  });

  test('status and managers come from the running processes', async () => {
    await settled(
      async () => expect(await call(client, 'getStatus', {})).toMatchObject({ status: 'OK' }),
      20_000,
    );
    const managers = await call(client, 'listManagers', {});
    expect(managers.items).toHaveLength(1);
  });

  test('v2.1 answers its own shapes without a tenant header', async () => {
    const response = await fetch(`${fleet.baseUrl}/api/v2.1/deployments?id=fleet`, {
      headers: { authorization: `Basic ${Buffer.from(`admin:${fleet.adminPassword}`).toString('base64')}` },
    });
    expect(response.status).toBe(200);
    const { items } = (await response.json()) as { items: Record<string, unknown>[] };
    expect(items[0]).toMatchObject({ id: 'fleet', blueprint_id: 'fleet' });
    expect(items[0]!.created_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/);
    expect(items[0]).not.toHaveProperty('visibility');
  });
});

async function gone(read: () => Promise<unknown>): Promise<void> {
  await settled(async () => expect(read()).rejects.toMatchObject({ status: 404 }));
}

async function settled(check: () => Promise<void>, limitMs = 15_000): Promise<void> {
  await eventually(check, { deadlineMs: limitMs, everyMs: 100 });
}

// The load of one tenant leaves slots for others, and a cancel stops operations on real workers.
import { join } from 'node:path';
import { type Client, createClient } from '@baton/client';
import { eventually } from '@baton/testkit';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
const archive = archiveOf(join(__dirname, 'blueprints/sleeper'));

beforeAll(async () => {
  fleet = await startE2eFleet({
    workers: 2,
    env: { BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
});
afterAll(async () => await fleet?.stop());

async function deploy(of: Client, id: string, inputs: object): Promise<void> {
  await upload(of, id, archive);
  await call(of, 'createDeployment', { id }, { blueprint_id: id, inputs });
}

const start = async (of: Client, deployment_id: string, more: object = {}) =>
  (await call(of, 'startExecution', {}, { deployment_id, workflow_id: 'install', ...more })).id as string;
const why = async (of: Client, executionId: string): Promise<{ kind: string; message: string }[]> =>
  (await call(of, 'explainExecution', { executionId })).waiting_for;
const statusOf = async (executionId: string) =>
  (await call(client, 'getExecution', { executionId })).status as string;

/** Waits until an operation of the execution is running. */
const asleep = (executionId: string) =>
  eventually(
    async () => expect((await why(client, executionId)).map(({ kind }) => kind)).toContain('lease'),
    {
      deadlineMs: 30_000,
    },
  );

/** Returns the ms from the execution's creation to its first operation, by the manager's own timestamps. */
async function msUntilOperation(of: Client, executionId: string): Promise<number> {
  const { created_at } = await call(of, 'getExecution', { executionId });
  const { items } = await call(of, 'listEvents', {}, undefined, { execution_id: executionId, _size: 1000 });
  const started = (items as { event_type?: string; reported_timestamp: string }[])
    .filter(({ event_type }) => event_type === 'task_started')
    .map(({ reported_timestamp }) => Date.parse(reported_timestamp));
  return Math.min(...started) - Date.parse(created_at);
}

test('80 operations of one tenant leave places: one of another begins at once, and why says what the others wait for', async () => {
  await call(client, 'createTenant', { name: 'other' }, {});
  const other = createClient({
    baseUrl: fleet.baseUrl,
    username: 'admin',
    password: fleet.adminPassword,
    tenant: 'other',
  });
  await deploy(other, 'echo', { seconds: '0' });
  await follow(other, 'echo', 'install');
  await deploy(client, 'many', { seconds: '20', count: 80 });
  const many = await start(client, 'many');
  await eventually(async () => expect((await why(client, many)).map(({ kind }) => kind)).toContain('share'), {
    deadlineMs: 30_000,
  });
  const reinstalled = await follow(other, 'echo', 'reinstall');
  expect(reinstalled.status).toBe('terminated');
  expect(await msUntilOperation(other, reinstalled.id)).toBeLessThan(2_000);
  expect(await statusOf(many)).toBe('started');
  await call(client, 'actOnExecution', { executionId: many }, { action: 'force-cancel' });
  await eventually(async () => expect(await statusOf(many)).toBe('cancelled'), { deadlineMs: 20_000 });
}, 120_000);

test('a cancel lets a script go on for its grace and stops it then; an uninstall waits for that', async () => {
  await deploy(client, 'graceful', { seconds: '60' });
  const id = await start(client, 'graceful', {
    parameters: { cancel_grace: 3 },
    allow_custom_parameters: true,
  });
  await asleep(id);
  const begun = performance.now();
  const answer = await call(client, 'actOnExecution', { executionId: id }, { action: 'cancel' });
  expect(answer).toMatchObject({ status: 'cancelling', cancel_deadline: expect.any(String) });
  const uninstall = await start(client, 'graceful', { workflow_id: 'uninstall', queue: true });
  expect(await statusOf(uninstall)).toBe('queued');
  await eventually(async () => expect(await statusOf(id)).toBe('cancelled'), { deadlineMs: 20_000 });
  const tookMs = performance.now() - begun;
  expect(tookMs).toBeGreaterThan(2_500);
  expect(tookMs).toBeLessThan(15_000);
  await eventually(async () => expect(await statusOf(uninstall)).toBe('terminated'), { deadlineMs: 20_000 });
}, 120_000);

test('a forced cancel ends at once, and what is asked for meanwhile starts when the script is dead', async () => {
  await deploy(client, 'forced', { seconds: '60' });
  const id = await start(client, 'forced');
  await asleep(id);
  await call(client, 'actOnExecution', { executionId: id }, { action: 'force-cancel' });
  await eventually(async () => expect(await statusOf(id)).toBe('cancelled'), { deadlineMs: 10_000 });
  const uninstall = await start(client, 'forced', { workflow_id: 'uninstall' });
  await eventually(async () => expect(await statusOf(uninstall)).toBe('terminated'), { deadlineMs: 20_000 });
}, 120_000);

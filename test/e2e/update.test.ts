// Deployment updates: afterwards executions use the new blueprint, even executions that were stopped before.
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, followExecution, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  fleet = await startE2eFleet({
    workers: 1,
    env: { BATON_TASK_RETRIES: '0' },
  });
  client = adminClient(fleet);
  for (const id of ['scripts-one', 'scripts-two'])
    await upload(client, id, archiveOf(join(__dirname, 'blueprints', id)));
});
afterAll(async () => await fleet?.stop());

const deploy = (id: string, inputs: object) =>
  call(client, 'createDeployment', { id }, { blueprint_id: 'scripts-one', inputs });
const said = (messages: readonly string[]): string[] =>
  messages.filter((message) => message.startsWith('script ')).sort();

async function update(deployment_id: string, body: object) {
  const { execution_id } = await call(client, 'initiateDeploymentUpdate', { deployment_id }, body);
  const done = await followExecution(client, execution_id);
  expect(done).toMatchObject({ status: 'terminated' });
  return done;
}

test('what is installed by an update runs the scripts of the new blueprint', async () => {
  await deploy('moved', { word: 'hello' });
  expect(said((await follow(client, 'moved', 'install')).messages)).toEqual(['script one says hello']);
  const { messages } = await update('moved', { blueprint_id: 'scripts-two' });
  expect(said(messages)).toEqual(['script two says hello']);
  const again = await follow(client, 'moved', 'reinstall');
  expect(said(again.messages)).toEqual(['script two says hello', 'script two says hello']);
});

test('schedules of the new blueprint are made or changed, others stay', async () => {
  const { items } = await call(client, 'listExecutionSchedules', {}, undefined, { deployment_id: 'moved' });
  const schedules = items.map((one: Record<string, string>) => [
    one.id,
    one.workflow_id,
    one.since?.slice(0, 4),
  ]);
  expect(schedules.sort()).toEqual([
    ['monthly', 'check_status', '2050'],
    ['nightly', 'check_drift', '2051'],
    ['weekly', 'check_status', '2050'],
  ]);
});

test('an install that failed goes on with inputs and scripts of an update in between', async () => {
  await deploy('mended', { word: 'never' });
  const failed = await follow(client, 'mended', 'install');
  expect([failed.status, said(failed.messages)]).toEqual(['failed', ['script one says never']]);
  await update('mended', { blueprint_id: 'scripts-two', inputs: { word: 'hello' }, skip_install: true });
  await call(client, 'actOnExecution', { executionId: failed.id }, { action: 'resume' });
  const resumed = await followExecution(client, failed.id);
  expect([resumed.status, said(resumed.messages)]).toEqual([
    'terminated',
    ['script one says never', 'script two says hello'],
  ]);
});

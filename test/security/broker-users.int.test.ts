// A complete manager whose services have separate users at RabbitMQ, as in compose and Kubernetes. The manager works, and an
// attacker with the user of one service cannot forge messages of another service.
import { join } from 'node:path';
import { rabbitNames } from '@baton/broker';
import { buildMessage, changeMade } from '@baton/contracts';
import { eventually, type RestartableRabbit, restartableRabbit } from '@baton/testkit';
import { connect } from 'amqplib';
import { type Fleet, startFleet } from '../harness/fleet';
import { adminClient, archiveOf, call, upload } from '../harness/session';

let rabbit: RestartableRabbit;
let fleet: Fleet;
const archive = archiveOf(join(__dirname, '../e2e/blueprints/sleeper'));
beforeAll(async () => {
  rabbit = await restartableRabbit(undefined, { hasManagement: true });
  fleet = await startFleet({ mode: 'services', urls: { amqp: rabbit.url }, rabbitApi: rabbit.apiUrl! });
}, 180_000);
afterAll(async () => {
  await fleet?.stop();
  await rabbit?.close();
}, 60_000);

const names = () => rabbitNames(fleet.namespace);
async function onBroker<T>(work: (model: Awaited<ReturnType<typeof connect>>) => Promise<T>): Promise<T> {
  const model = await connect(rabbit.url);
  try {
    return await work(model);
  } finally {
    await model.close();
  }
}
const countAt = (queue: string) =>
  onBroker(async (model) => (await (await model.createChannel()).checkQueue(queue)).messageCount);

test('blueprints, deployments, executions, cancels and the audit log work', async () => {
  const client = adminClient(fleet);
  await upload(client, 'sleeper', archive);
  const statusAfter = async (id: string, inputs: object, isCancelled: boolean): Promise<void> => {
    await call(client, 'createDeployment', { id }, { blueprint_id: 'sleeper', inputs });
    const about = { deployment_id: id, workflow_id: 'install' };
    const executionId = (await call(client, 'startExecution', {}, about)).id as string;
    const status = async () => (await call(client, 'getExecution', { executionId })).status as string;
    if (isCancelled) {
      await eventually(async () => expect(await status()).toBe('started'), { deadlineMs: 30_000 });
      await call(client, 'actOnExecution', { executionId }, { action: 'force-cancel' });
    }
    const end = isCancelled ? 'cancelled' : 'terminated';
    await eventually(async () => expect(await status()).toBe(end), { deadlineMs: 60_000 });
  };
  await statusAfter('short', { seconds: '0' }, false);
  await statusAfter('long', { seconds: '600' }, true);
  await eventually(
    async () => {
      const { items } = await call(client, 'listAudit', {}, undefined);
      expect(JSON.stringify(items)).toContain('sleeper');
    },
    { deadlineMs: 20_000 },
  );
  for (const service of ['deployments', 'executions', 'catalog', 'worker', 'cluster-status'])
    expect([service, await countAt(names().parked(service))]).toEqual([service, 0]);
}, 150_000);

test('a change that the user of RabbitMQ alone tells of is parked', async () => {
  const forged = buildMessage(
    changeMade,
    { tenant: 'default_tenant', key: 'k', time: '2026-01-01T00:00:00.000Z' },
    {
      refTable: 'users',
      refId: 'forged',
      refIdentifier: {},
      operation: 'delete',
      username: 'admin',
      executionId: '',
      requestId: 'r',
      route: 'deleteUser',
    },
  );
  await onBroker(async (model) => {
    const channel = await model.createConfirmChannel();
    channel.publish(names().work('identity'), forged.type, Buffer.from(JSON.stringify(forged)), {
      messageId: forged.id,
      type: forged.type,
    });
    await channel.waitForConfirms();
  });
  await eventually(async () => expect(await countAt(names().parked('cluster-status'))).toBe(1), {
    deadlineMs: 20_000,
  });
  const { items } = await call(adminClient(fleet), 'listAudit', {}, undefined);
  expect(JSON.stringify(items)).not.toContain('forged');
}, 60_000);

import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { explainExecution } from '../../executions/queries/explain-execution';
import { agentOf, askAsAgent, hostedDeployment } from '../../testing/agents';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { cancelExecution } from './cancel-execution';
import { giveUpAgents } from './give-up-agents';

/** Operations whose agent does not come. */

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup({ BATON_AGENT_WAIT: '5m', BATON_TASK_RETRIES: '1', BATON_CANCEL_GRACE: '10m' });
}, 60_000);
afterAll(async () => await engine?.stop());

const { begin, row, phaseIs } = drive(() => engine);

async function installed(id: string, host: string, config: Record<string, unknown> = {}): Promise<string> {
  const options = { config: { install_method: 'remote', ...config } };
  engine.peer.deployments.set(id, hostedDeployment([host], options));
  const execution = await begin(id, 'install');
  await phaseIs(execution, 'running');
  return execution;
}

/** Lets `minutes` pass for the ready operations of an execution. */
const pass = (executionId: string, minutes: number) =>
  sql`update tasks set dispatched_at = dispatched_at - make_interval(mins => ${minutes})
    where execution_id = ${executionId} and state = 'sent'`.execute(engine.db.query);

async function messagesOf(executionId: string, type: string) {
  const { rows } = await sql<{ node_instance_id: string | null; error_causes: unknown }>`
    select node_instance_id, error_causes from events where execution_id = ${executionId} and event_type = ${type} and operation is not null
    order by seq`.execute(engine.db.query);
  return rows;
}

test('an operation fails after the wait, recoverably, with a text that says whom it waited for and where to look', async () => {
  const id = await installed('silent', 'va', { service_name: 'web' });
  await pass(id, 4);
  expect(await giveUpAgents(engine.deps)).toBe(0);
  await pass(id, 2);
  expect(await giveUpAgents(engine.deps)).toBe(1);
  const [failure] = await messagesOf(id, 'task_failed');
  expect(failure!.error_causes).toMatchObject([
    {
      type: 'RecoverableError',
      message:
        'Timed out waiting for agent: web. It did not take the operation for host va_1 within 5 min. ' +
        'The agent has never connected. To see its state: baton agents show web',
    },
  ]);
  // It never ran, and its retry waits again: nothing of the first wait counts.
  const started = await messagesOf(id, 'task_started');
  expect(started.filter(({ node_instance_id }) => node_instance_id === 'va_app0_1')).toEqual([]);
  expect((await row(id)).phase).toBe('running');
  expect(await giveUpAgents(engine.deps)).toBe(0);
  // The agent has come back meanwhile.
  await eventually(async () =>
    expect((await askAsAgent(engine.client, agentOf('va_1'))).leases).toHaveLength(1),
  );
});

test('the text says when the agent asked last', async () => {
  const id = await installed('left', 'vb');
  await sql`insert into workers (id, about, last_seen) values (${agentOf('vb_1')}, '{}', '2026-02-03T04:05:06Z')`.execute(
    engine.db.query,
  );
  await pass(id, 6);
  await giveUpAgents(engine.deps);
  const [failure] = await messagesOf(id, 'task_failed');
  expect(failure!.error_causes).toMatchObject([
    { message: expect.stringContaining('The agent last asked for operations at 2026-02-03T04:05:06Z.') },
  ]);
});

test('an agent that asks is heard', async () => {
  await sql`insert into workers (id, about, last_seen) values (${agentOf('vh_1')}, '{}', '2026-02-03T04:05:06Z')`.execute(
    engine.db.query,
  );
  await askAsAgent(engine.client, agentOf('vh_1'));
  const { rows } = await sql<{ is_new: boolean }>`
    select last_seen > app_now() - interval '1 minute' as is_new from workers where id = ${agentOf('vh_1')}`.execute(
    engine.db.query,
  );
  expect(rows).toEqual([{ is_new: true }]);
});

test('what its agent has claimed is not given up, nor an operation of a worker', async () => {
  const id = await installed('taken', 'vc');
  expect((await askAsAgent(engine.client, agentOf('vc_1'))).leases).toHaveLength(1);
  await sql`update tasks set dispatched_at = app_now() - interval '1 day' where execution_id = ${id}`.execute(
    engine.db.query,
  );
  expect(await giveUpAgents(engine.deps)).toBe(0);
});

test('a cancel takes the operation back: nothing fails, and nobody is waited for', async () => {
  const id = await installed('cancelled', 'vd');
  const [central] = (await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 }))
    .leases;
  expect(central).toBeDefined();
  await cancelExecution(engine.deps, id, 'cancel');
  await pass(id, 10);
  expect(await giveUpAgents(engine.deps)).toBe(0);
  expect((await askAsAgent(engine.client, agentOf('vd_1'))).leases).toEqual([]);
  await cancelExecution(engine.deps, id, 'force-cancel');
  await phaseIs(id, 'ended');
  expect(await messagesOf(id, 'task_failed')).toEqual([]);
});

test('a host that names the agent of another tenant as its proxy fails at once, and that agent gets nothing', async () => {
  const proxy = { deployment: 'd', node_instance: 'vault_1', tenant: 'other' };
  const id = await installed('foreign', 've', { extra: { proxy } });
  expect((await askAsAgent(engine.client, agentOf('vault_1', 'other'))).leases).toEqual([]);
  expect(await giveUpAgents(engine.deps)).toBe(1);
  const [failure] = await messagesOf(id, 'task_failed');
  expect(failure!.error_causes).toMatchObject([
    {
      type: 'NonRecoverableError',
      message: expect.stringContaining('names an agent of tenant other as its proxy'),
    },
  ]);
  const mine = await installed('proxied', 'vf', { extra: { proxy: { ...proxy, tenant: 'default_tenant' } } });
  const { leases } = await askAsAgent(engine.client, agentOf('vault_1'));
  expect(leases.map(({ executionId }) => executionId)).toEqual([mine]);
});

test('the reasons for waiting name the agent and its host', async () => {
  const id = await installed('why', 'vg', { service_name: 'db' });
  const { queue, agents } = engine.deps;
  const reasons = await explainExecution(engine.db.query, await row(id), queue, agents);
  const [agent] = reasons.filter(({ kind }) => kind === 'agent');
  expect(agent).toMatchObject({
    message:
      'cloudify.interfaces.lifecycle.create of vg_app0_1 waits for the agent db of host vg_1, which has never connected',
    details: { agent: 'db', host: 'vg_1' },
  });
  expect(Date.parse(agent!.until!) - Date.parse(agent!.since!)).toBe(300_000);
  expect(reasons.map(({ kind }) => kind).sort()).toEqual(['agent', 'worker']);
});

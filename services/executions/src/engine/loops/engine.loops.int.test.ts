import { AppError } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';

/** Old executions that no process can continue do not hold up the others for long, even if they are more than a loop's batch. */

let engine: EngineSetup;
beforeEach(async () => {
  engine = await engineSetup();
}, 60_000);
afterEach(async () => await engine?.stop());

const { begin, row, phaseIs } = drive(() => engine);
const DEADLINE = { deadlineMs: 20_000 };

/** Starts an execution and waits until it runs. Tests copy its row and graph; the copies are not in memory. */
async function running(deploymentId: string): Promise<string> {
  engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }, ['create']));
  const id = await begin(deploymentId, 'install');
  await phaseIs(id, 'running');
  return id;
}

/** Makes the deployments service answer every call about this deployment with a permanent error. */
function breakDeployment(id: string): void {
  const broken = new Error('the deployment is broken');
  engine.peer.deployments.set(id, {
    ...peerDeployment({ a: [] }),
    get nodes(): never {
      throw new AppError('internal_server_error', broken.message);
    },
    get instances(): never {
      throw new AppError('internal_server_error', broken.message);
    },
  });
}

/** Inserts copies of execution `of`, with changed columns and a minute older; returns their ids. */
async function copies(of: string, count: number, changes: Record<string, unknown>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    insert into executions select (jsonb_populate_record(e, ${JSON.stringify(changes)}::jsonb || jsonb_build_object(
      'id', c.id, 'request_id', c.id, 'created_at', app_now() - interval '1 minute'))).*
    from executions e, (select gen_random_uuid() as id from generate_series(1, ${count}::integer)) c
    where e.id = ${of}::uuid returning id`.execute(engine.db.query);
  return rows.map(({ id }) => id);
}

const PLANNING = { phase: 'planning', status: 'pending', stage: null, graph_id: null, wake_at: null };

test('whose driver died is driven again behind 120 that no drive brings on', async () => {
  const template = await running('template');
  breakDeployment('broken');
  await copies(template, 120, { ...PLANNING, deployment_id: 'broken' });
  engine.peer.deployments.set('whole', peerDeployment({ a: [] }, ['create']));
  const [whole] = await copies(template, 1, { ...PLANNING, deployment_id: 'whole' });
  await sql`update executions set created_at = app_now() - interval '30 seconds' where id = ${whole}::uuid`.execute(
    engine.db.query,
  );
  await phaseIs(whole!, 'running');
}, 60_000);

test('a timer whose process died is looked at behind 120 of graphs that cannot be read', async () => {
  const template = await running('template');
  const unread = { deployment_id: 'broken', graph_id: '00000000-0000-4000-8000-000000000000' };
  await copies(template, 120, { ...unread, wake_at: '2020-01-01T00:00:00Z' });
  const [waiting] = await copies(template, 1, {
    ...PLANNING,
    ...{ phase: 'waiting', status: 'scheduled', deployment_id: 'whole' },
    ...{ scheduled_for: '2021-01-01T00:00:00Z', wake_at: '2021-01-01T00:00:00Z' },
  });
  engine.peer.deployments.set('whole', peerDeployment({ a: [] }, ['create']));
  // The others count as at work, so this execution is queued and does not start.
  await eventually(async () => expect((await row(waiting!)).status).toBe('queued'), DEADLINE);
}, 60_000);

test('a run of a dead worker is given to another behind 300 of graphs that cannot be read', async () => {
  const template = await running('template');
  const { leases } = await engine.client.claimTask({
    ...{ workerId: 'w1', executionId: template, taskId: '', room: 1 },
  });
  const { taskId } = leases[0]!;
  const [broken] = await copies(template, 1, { graph_id: null, deployment_id: 'broken' });
  await engine.db.tx(async (tx) => {
    const graph = await sql<{ id: string }>`insert into tasks_graphs
      select (jsonb_populate_record(g, jsonb_build_object('id', gen_random_uuid(), 'execution_id', ${broken}::uuid))).*
      from tasks_graphs g where g.execution_id = ${template}::uuid returning id`.execute(tx);
    const { id } = graph.rows[0]!;
    await sql`update tasks_graphs set tasks = '\\x00' where id = ${id}::uuid`.execute(tx);
    await sql`update executions set graph_id = ${id}::uuid where id = ${broken}::uuid`.execute(tx);
    await sql`insert into tasks select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(),
        'graph_id', ${id}::uuid, 'execution_id', ${broken}::uuid, 'idx', 1000 + n,
        'lease_until', app_now() - interval '1 hour'))).*
      from tasks t, generate_series(1, 300) n where t.id = ${taskId}::uuid`.execute(tx);
    await sql`update tasks set lease_until = app_now() - interval '1 minute' where id = ${taskId}::uuid`.execute(
      tx,
    );
  });
  // The reaper first gives workers the time to report.
  await eventually(async () => {
    const { leases: next } = await engine.client.claimTask({
      ...{ workerId: 'w2', executionId: template, taskId: '', room: 1 },
    });
    expect(next.map(({ attempt }) => attempt)).toEqual([2]);
  }, DEADLINE);
}, 60_000);

test('states are delivered behind those of 50 executions whose deployments do not take them', async () => {
  const template = await running('template');
  breakDeployment('broken');
  const broken = await copies(template, 50, { deployment_id: 'broken', last_state_seq: 1 });
  engine.peer.deployments.set('whole', peerDeployment({ a: [] }, ['create']));
  const [whole] = await copies(template, 1, { deployment_id: 'whole', last_state_seq: 1 });
  await sql`insert into instance_states (execution_id, seq, node_instance_id, state, created_at)
    select id, 1, 'a_1', 'creating', app_now() - interval '1 minute' - case when id = ${whole}::uuid then interval '0'
      else interval '1 hour' end
    from unnest(${[...broken, whole!]}::uuid[]) id`.execute(engine.db.query);
  await eventually(
    async () => expect(engine.peer.deployments.get('whole')!.instances[0]!.state).toBe('creating'),
    DEADLINE,
  );
  expect((await row(whole!)).phase).toBe('running');
}, 60_000);

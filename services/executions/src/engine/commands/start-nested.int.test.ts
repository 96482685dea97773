import { executionsRpc, listQuery } from '@baton/contracts';
import { systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { deleteExecutions } from '../../executions/commands/delete-executions';
import { explainExecution } from '../../executions/queries/explain-execution';
import { allowLeavingTheEnd, lockExecution, updateExecution } from '../../executions/store/executions.sql';
import { countAtWork } from '../../executions/store/queue.sql';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { admin } from '../../testing/http-rig';
import { cancelNested, settleForgotten } from './await-nested';
import { cancelExecution } from './cancel-execution';
import { driveExecution } from './drive-execution';
import { resumeExecution } from './resume-execution';

const DEADLINE = { deadlineMs: 15_000 };

let engine: EngineSetup;
/** Deployment -> the installed deployments below it. */
const below = new Map<string, string[]>();

beforeAll(async () => {
  engine = await engineSetup();
  engine.peer.answerCalls(({ call }, deploymentId) => {
    if (call === 'list-services') return below.get(deploymentId) ?? [];
    return call === 'update-prepare' ? { unsupported: [] } : call === 'update-perform' ? {} : null;
  });
}, 60_000);
afterAll(async () => await engine?.stop());

/** Sets up an installed deployment with one instance. */
function installed(id: string, services: string[] = []): void {
  const deployment = peerDeployment({ [`n_${id}`]: [] });
  for (const instance of deployment.instances) instance.state = 'started';
  const { uninstall } = deployment.workflows;
  deployment.workflows.uninstall = { ...uninstall!, parameters: { recursive: { default: false } } };
  engine.peer.deployments.set(id, deployment);
  below.set(id, services);
}

const { begin: start, row, phaseIs, workToEnd } = drive(() => engine);
const begin = (deploymentId: string, workflowId: string, parameters: object, more: object = {}) =>
  start(deploymentId, workflowId, { parametersJson: JSON.stringify(parameters), ...more });

type Child = { id: string; deployment_id: string; status: string; execution_group_id: string | null };

async function childrenOf(id: string): Promise<Child[]> {
  const { rows } = await sql<Child>`select id, deployment_id, status, execution_group_id from executions
    where parent_id = ${id} order by deployment_id`.execute(engine.db.query);
  return rows;
}

function latch() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test('a recursive uninstall runs on the services below first, in a group, and then on the deployment itself', async () => {
  installed('env', ['svc_a', 'svc_b']);
  installed('svc_a', ['inner']);
  installed('svc_b');
  installed('inner');
  const id = await begin('env', 'uninstall', { recursive: true });
  await phaseIs(id, 'awaiting');
  const [a, b] = await childrenOf(id);
  expect([a!.deployment_id, b!.deployment_id]).toEqual(['svc_a', 'svc_b']);
  expect(a!.execution_group_id).toBe(`env_services_uninstall-${id}`);
  expect((await row(a!.id)).parameters).toMatchObject({ recursive: true });
  await phaseIs(a!.id, 'awaiting');
  // Two of them wait for others and take no place; `inner` and `svc_b` are at work.
  expect(await countAtWork(engine.db.query)).toBe(2);

  const [inner] = await childrenOf(a!.id);
  const ran = [
    ...(await workToEnd(b!.id)),
    ...(await workToEnd(inner!.id)),
    ...(await workToEnd(a!.id)),
    ...(await workToEnd(id)),
  ];
  expect(ran.filter((call) => call.startsWith('delete'))).toEqual([
    'delete n_svc_b_1',
    'delete n_inner_1',
    'delete n_svc_a_1',
    'delete n_env_1',
  ]);
  expect(await row(id)).toMatchObject({ status: 'terminated', error: '' });
});

test('what an execution waits for is told: each execution below, since when, and until when at most', async () => {
  installed('told', ['told_svc']);
  installed('told_svc');
  const id = await begin('told', 'uninstall', { recursive: true });
  await phaseIs(id, 'awaiting');
  const [child] = await childrenOf(id);
  const told = await explainExecution(engine.db.query, await row(id), engine.deps.queue);
  expect(told).toEqual([
    {
      kind: 'nested',
      message: `execution ${child!.id} (uninstall of told_svc) is started`,
      since: (await row(child!.id)).created_at,
      until: null,
      details: {
        execution_id: child!.id,
        workflow_id: 'uninstall',
        deployment_id: 'told_svc',
        status: 'started',
      },
    },
  ]);
  await workToEnd(child!.id);
  await workToEnd(id);
});

test('replicas that drive the stage at the same moment, or again after a crash, start everything once', async () => {
  const services = Array.from({ length: 8 }, (_, i) => `twin_${i}`);
  installed('twins', services);
  for (const one of services) installed(one);
  const id = await begin('twins', 'uninstall', { recursive: true });
  await Promise.all([1, 2, 3].map(() => driveExecution(engine.deps, id)));
  await phaseIs(id, 'awaiting');
  // The row is as after a crash between the start and the wait.
  await sql`update executions set phase = 'calling', version = version + 1 where id = ${id}`.execute(
    engine.db.query,
  );
  await driveExecution(engine.deps, id);
  expect((await row(id)).phase).toBe('awaiting');
  const children = await childrenOf(id);
  expect(children.map((child) => child.deployment_id)).toEqual(services);
  // 5 is the concurrency of the group.
  expect(children.filter(({ status }) => status !== 'queued')).toHaveLength(5);
  for (const child of children) await workToEnd(child.id);
  await workToEnd(id);
  expect((await row(id)).status).toBe('terminated');
});

test('a system-wide execution that waits for the parent does not hold up what the parent waits for', async () => {
  const services = Array.from({ length: 6 }, (_, i) => `held_${i}`);
  installed('holder', services);
  for (const one of services) installed(one);
  const id = await begin('holder', 'uninstall', { recursive: true });
  await phaseIs(id, 'awaiting');
  const systemWide = await begin('', 'restore_snapshot', {}, { isSystemWorkflow: true, queue: true });
  expect((await row(systemWide)).status).toBe('queued');
  for (const child of await childrenOf(id)) await workToEnd(child.id);
  await workToEnd(id);
  expect((await row(id)).status).toBe('terminated');
  await cancelExecution(engine.deps, systemWide, 'force-cancel').catch(() => undefined);
  await sql`update executions set status = 'cancelled', phase = 'ended' where id = ${systemWide} and phase <> 'ended'`.execute(
    engine.db.query,
  );
});

test.each(['cancel', 'force-cancel', 'kill'] as const)(
  '%s of the parent cancels what it has started, running or queued, and what that has started',
  async (mode) => {
    const services = Array.from({ length: 7 }, (_, i) => `${mode}_${i}`);
    installed(`${mode}_env`, services);
    for (const one of services) installed(one);
    installed(`${mode}_inner`);
    below.set(services[0]!, [`${mode}_inner`]);
    const id = await begin(`${mode}_env`, 'uninstall', { recursive: true });
    await phaseIs(id, 'awaiting');
    const children = await childrenOf(id);
    await phaseIs(children[0]!.id, 'awaiting');
    await cancelExecution(engine.deps, id, mode);
    await eventually(async () => {
      const all = [...(await childrenOf(id)), ...(await childrenOf(children[0]!.id))];
      expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'cancelled'));
      expect((await row(id)).status).toBe('cancelled');
    }, DEADLINE);
  },
);

test('a service that fails fails the uninstall above it; a resume goes on with that service only', async () => {
  installed('broken', ['good', 'bad']);
  installed('good');
  installed('bad');
  const id = await begin('broken', 'uninstall', { recursive: true });
  await phaseIs(id, 'awaiting');
  const [bad, good] = await childrenOf(id);
  await workToEnd(good!.id);
  await workToEnd(bad!.id, () => ({
    kind: executionsRpc.OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
    errorJson: JSON.stringify({ type: 'NonRecoverableError', message: 'no' }),
  }));
  await phaseIs(id, 'ended');
  expect(await row(id)).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(
      new RegExp(`^uninstall did not succeed on 1 deployment\\(s\\) below broken: bad \\(${bad!.id}, failed`),
    ),
  });
  await resumeExecution(engine.deps, id, false);
  await phaseIs(id, 'awaiting');
  expect((await workToEnd(bad!.id)).length).toBeGreaterThan(0);
  await workToEnd(id);
  expect(await row(id)).toMatchObject({ status: 'terminated', error: '' });
  expect(await childrenOf(id)).toHaveLength(2);
});

test('an end that the parent has yet to hear, or to resume, is not deleted; all of it goes together', async () => {
  installed('kept', ['kept_bad', 'kept_good']);
  installed('kept_bad');
  installed('kept_good');
  const id = await begin('kept', 'uninstall', { recursive: true });
  await phaseIs(id, 'awaiting');
  const [bad, good] = await childrenOf(id);
  const no = JSON.stringify({ type: 'NonRecoverableError', message: 'no' });
  const kind = executionsRpc.OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE;
  await workToEnd(bad!.id, () => ({ kind, errorJson: no }));
  const remove = (ids: string[]) =>
    deleteExecutions(engine.db, admin, listQuery({ filters: { id: ids } }), {}, systemClock.now());
  expect(await remove([bad!.id])).toEqual([]);
  await workToEnd(good!.id);
  await phaseIs(id, 'ended');
  expect((await row(id)).status).toBe('failed');
  expect(await remove([bad!.id])).toEqual([]);
  const all = [id, bad!.id, good!.id];
  expect((await remove(all)).map((one) => one.id).sort()).toEqual([...all].sort());
});

test('a cancel of the parent reaches a service that was resumed while it looked', async () => {
  installed('race', ['race_svc']);
  installed('race_svc');
  const id = await begin('race', 'uninstall', { recursive: true });
  await phaseIs(id, 'awaiting');
  const [child] = await childrenOf(id);
  await cancelExecution(engine.deps, id, 'cancel');
  await phaseIs(id, 'ended');
  await phaseIs(child!.id, 'ended');
  // A group that waits for room sets this wish.
  await sql`update executions set resume_wish = 'resume' where id = ${child!.id}`.execute(engine.db.query);
  const [locked, hasLooked] = [latch(), latch()];
  const resuming = engine.db.tx(async (tx) => {
    const { version } = (await lockExecution(tx, child!.id))!;
    locked.open();
    await hasLooked.opened;
    await allowLeavingTheEnd(tx);
    const resumed = { status: 'pending', phase: 'planning', resume_wish: null } as const;
    const anew = { stage: null, graph_id: null, outcome: null, version: version + 1 };
    await updateExecution(tx, child!.id, { ...resumed, ...anew });
  });
  await locked.opened;
  const cancelling = cancelNested(engine.deps, id);
  // `cancelNested` waits for the lock of the row, to drop the wish.
  await eventually(async () => {
    const { rows } = await sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'
      and datname = current_database() and query like '%resume_wish = null%'`.execute(engine.db.query);
    expect(rows).toHaveLength(1);
  }, DEADLINE);
  hasLooked.open();
  await Promise.all([resuming, cancelling]);
  await eventually(async () => expect((await row(child!.id)).status).toBe('cancelled'), DEADLINE);
});

test('an end whose wake-up was lost is found by the loop', async () => {
  installed('lost', ['lost_svc']);
  installed('lost_svc');
  const id = await begin('lost', 'uninstall', { recursive: true });
  await phaseIs(id, 'awaiting');
  expect(await settleForgotten(engine.deps)).toBe(0);
  await sql`update executions set status = 'terminated', phase = 'ended' where parent_id = ${id}`.execute(
    engine.db.query,
  );
  expect(await settleForgotten(engine.deps)).toBe(1);
  await workToEnd(id);
  expect((await row(id)).status).toBe('terminated');
});

test('a dry run and a deployment without installed services start nothing', async () => {
  installed('alone');
  const dry = await begin('alone', 'uninstall', { recursive: true }, { dryRun: true });
  await phaseIs(dry, 'ended');
  installed('dry', ['dry_svc']);
  installed('dry_svc');
  const second = await begin('dry', 'uninstall', { recursive: true }, { dryRun: true });
  await phaseIs(second, 'ended');
  const real = await begin('alone', 'uninstall', { recursive: true });
  await workToEnd(real);
  for (const id of [dry, second, real]) {
    expect((await row(id)).status).toBe('terminated');
    expect(await childrenOf(id)).toEqual([]);
  }
});

test('the workflow of a deployment update is started with what the update changes; its failure does not fail the update', async () => {
  installed('updated');
  const id = await begin('updated', 'update', { update_id: 'u1', workflow_id: 'restart' }, { force: true });
  await phaseIs(id, 'awaiting');
  const [child] = await childrenOf(id);
  expect(await row(child!.id)).toMatchObject({
    workflow_id: 'restart',
    is_forced: true,
    parameters: expect.objectContaining({ update_id: 'u1', added_instance_ids: [] }),
  });
  await cancelExecution(engine.deps, child!.id, 'cancel');
  await phaseIs(id, 'ended');
  expect(await row(id)).toMatchObject({ status: 'terminated', error: '' });
});

test('the limit of the update ends the wait: the update fails and its workflow is cancelled', async () => {
  installed('slow');
  const parameters = { update_id: 'u2', workflow_id: 'restart', custom_workflow_timeout: 0.3 };
  const id = await begin('slow', 'update', parameters, { force: true });
  await phaseIs(id, 'ended');
  expect(await row(id)).toMatchObject({ status: 'failed', error: 'Timeout running restart' });
  const [child] = await childrenOf(id);
  await eventually(async () => expect((await row(child!.id)).status).toBe('cancelled'), DEADLINE);
});

test('a workflow that the deployment does not have fails the update by name', async () => {
  installed('wrong');
  const id = await begin('wrong', 'update', { update_id: 'u3', workflow_id: 'restrat' }, { force: true });
  await phaseIs(id, 'ended');
  expect(await row(id)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('did you mean restart?'),
  });
});

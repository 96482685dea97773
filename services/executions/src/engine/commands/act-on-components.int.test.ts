import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { dequeueExecutions } from '../../executions/commands/dequeue-executions';
import { requestExecution } from '../../executions/commands/request-execution';
import { readExecution } from '../../executions/store/executions.sql';
import { createExecutionGroup } from '../../groups/commands/create-execution-group';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup, type Probe, work } from '../../testing/engine-setup';
import { startRequest } from '../../testing/start-request';
import { onExecutionRequested } from '../messages/on-execution-requested';
import { cancelExecution } from './cancel-execution';
import { resumeExecution } from './resume-execution';

/** Effects of a cancel, a resume and a cascading workflow of an execution on the components of its deployment. */

const DEADLINE = { deadlineMs: 15_000 };

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

const CASCADING = {
  plugin: 'default_workflows',
  operation: 'cloudify.plugins.workflows.start',
  is_cascading: true,
};

/** Sets up a deployment with components; `cascades`: whether its workflow `tune` cascades, null = it has no such workflow. */
function deployed(id: string, components: string[] = [], cascades: boolean | null = true): void {
  const deployment = peerDeployment({ a: [] }, ['start', 'stop']);
  if (cascades !== null) deployment.workflows.tune = { ...CASCADING, is_cascading: cascades, parameters: {} };
  engine.peer.deployments.set(id, deployment);
  engine.peer.components.set(id, components);
}

const row = async (id: string) => (await readExecution(engine.db.query, id))!;
const statusIs = (id: string, status: string) =>
  eventually(async () => expect((await row(id)).status).toBe(status), DEADLINE);
const runs = (id: string) => eventually(async () => expect((await row(id)).phase).toBe('running'), DEADLINE);
const start = async (deploymentId: string, more: Parameters<typeof startRequest>[1] = {}) =>
  (await requestExecution(engine.deps, startRequest(deploymentId, more))).id;

async function executionsOf(prefix: string) {
  const { rows } = await sql<{ id: string; deployment_id: string; status: string; workflow_id: string }>`
    select id, deployment_id, status, workflow_id from executions
    where deployment_id like ${`${prefix}%`} order by deployment_id, created_at`.execute(engine.db.query);
  return rows;
}

async function worksTo(id: string, status: string, probe?: Probe): Promise<void> {
  await eventually(async () => {
    await work(engine.client, id, 'w1', probe);
    expect((await row(id)).status).toBe(status);
  }, DEADLINE);
}

test.each(['cancel', 'force-cancel', 'kill'] as const)(
  '%s reaches the last executions of components at every level, and a resume takes them up again but for installs',
  async (mode) => {
    deployed(`${mode}1`, [`${mode}2`]);
    deployed(`${mode}2`, [`${mode}3`, `${mode}4`]);
    deployed(`${mode}3`);
    deployed(`${mode}4`);
    await start(`${mode}1`, { workflowId: 'tune' });
    const ids = (await executionsOf(mode)).map(({ id }) => id);
    expect(ids).toHaveLength(4);
    for (const id of ids) await runs(id);
    await cancelExecution(engine.deps, ids[0]!, mode);
    for (const id of ids) await statusIs(id, 'cancelled');
    // The last execution of the fourth deployment is an install now: only the operation of its component resumes an install.
    const install = await start(`${mode}4`);
    await cancelExecution(engine.deps, install, 'cancel');
    await statusIs(install, 'cancelled');

    await resumeExecution(engine.deps, ids[0]!, false);
    for (const id of ids.slice(0, 3)) await worksTo(id, 'terminated');
    expect([(await row(install)).status, (await row(ids[3]!)).status]).toEqual(['cancelled', 'cancelled']);
    // The message comes again: executions that have succeeded are left alone.
    await onExecutionRequested(engine.deps)({ payload: { executionId: ids[0]!, isResumed: true } } as never);
    expect((await row(ids[1]!)).status).toBe('terminated');
  },
  60_000,
);

test('the message of a resume that comes when the execution is cancelled again leaves the components as they are', async () => {
  deployed('again1', ['again2']);
  deployed('again2');
  const id = await start('again1', { workflowId: 'tune' });
  const [, child] = (await executionsOf('again')).map((one) => one.id);
  await cancelExecution(engine.deps, id, 'cancel');
  await statusIs(id, 'cancelled');
  await statusIs(child!, 'cancelled');
  await onExecutionRequested(engine.deps)({ payload: { executionId: id, isResumed: true } } as never);
  expect((await row(child!)).status).toBe('cancelled');
});

test('a component that cannot be resumed does not keep the others from it', async () => {
  deployed('one1', ['one2', 'one3']);
  deployed('one2');
  deployed('one3');
  const id = await start('one1', { workflowId: 'tune' });
  const [, broken, whole] = (await executionsOf('one')).map((one) => one.id);
  for (const one of [id, broken!, whole!]) await runs(one);
  await cancelExecution(engine.deps, id, 'cancel');
  for (const one of [id, broken!, whole!]) await statusIs(one, 'cancelled');
  await sql`update tasks_graphs set tasks = 'no graph' where execution_id = ${broken}`.execute(
    engine.db.query,
  );
  await resumeExecution(engine.deps, id, false);
  await runs(whole!);
  expect((await row(broken!)).status).toBe('cancelled');
});

test('an end that is no cancel leaves components alone; a cancel that finds deployments away is carried out later', async () => {
  deployed('end1', ['end2']);
  deployed('end2');
  const child = await start('end2');
  const failing = await start('end1');
  await runs(child);
  const broken = {
    kind: 3,
    errorJson: JSON.stringify({ exceptionType: 'NonRecoverableError', message: 'no' }),
  };
  await worksTo(failing, 'failed', () => broken);
  expect((await row(child)).status).toBe('started');

  const id = await start('end1');
  await runs(id);
  engine.peer.setDown(true);
  try {
    await cancelExecution(engine.deps, id, 'cancel');
    await eventually(async () => expect((await row(id)).phase).toBe('ending'), DEADLINE);
  } finally {
    engine.peer.setDown(false);
  }
  await statusIs(id, 'cancelled');
  await statusIs(child, 'cancelled');
});

test('an execution that never began takes only those with it that were started together with it', async () => {
  deployed('wait1', ['wait2', 'wait3']);
  deployed('wait2');
  deployed('wait3');
  const running = await start('wait1');
  await runs(running);
  const other = await start('wait2');
  await runs(other);
  const id = await start('wait1', { workflowId: 'tune', mayQueue: true });
  const mine = await executionsOf('wait');
  expect(mine.map(({ deployment_id, workflow_id, status }) => [deployment_id, workflow_id, status])).toEqual([
    ['wait1', 'install', 'started'],
    ['wait1', 'tune', 'queued'],
    ['wait2', 'install', 'started'],
    ['wait2', 'tune', 'queued'],
    ['wait3', 'tune', expect.stringMatching(/pending|started/)],
  ]);
  await cancelExecution(engine.deps, id, 'cancel');
  await statusIs(id, 'cancelled');
  await statusIs(mine[3]!.id, 'cancelled');
  await statusIs(mine[4]!.id, 'cancelled');
  expect([(await row(running)).status, (await row(other)).status]).toEqual(['started', 'started']);
});

test('a cascading workflow starts on each level as long as that cascades, once where it is reached twice', async () => {
  deployed('casc1', ['casc2', 'casc3']);
  deployed('casc2', ['casc3', 'casc1'], false);
  deployed('casc3', ['casc4']);
  deployed('casc4', ['casc5'], false);
  deployed('casc5');
  const requestId = newId();
  const request = { workflowId: 'tune', requestId, isDryRun: true, createdBy: 'bob' };
  const id = await start('casc1', request);
  expect(await start('casc1', request)).toBe(id);
  const started = await executionsOf('casc');
  expect(started.map((one) => one.deployment_id)).toEqual(['casc1', 'casc2', 'casc3', 'casc4']);
  for (const one of started) {
    expect(await row(one.id)).toMatchObject({ is_dry_run: true, created_by: 'bob', workflow_id: 'tune' });
    await worksTo(one.id, 'terminated');
  }
});

test('one component that cannot run it keeps all from being started', async () => {
  deployed('all1', ['all2', 'all3']);
  deployed('all2');
  deployed('all3', [], null);
  await expect(start('all1', { workflowId: 'tune' })).rejects.toMatchObject({
    code: 'nonexistent_workflow_error',
    message: expect.stringContaining(
      'Workflow tune does not exist in deployment all3 (all3 is a component of all1, and tune cascades to it)',
    ),
  });
  deployed('all3');
  await runs(await start('all3'));
  await expect(start('all1', { workflowId: 'tune' })).rejects.toMatchObject({
    code: 'existing_running_execution_error',
  });
  expect((await executionsOf('all')).map(({ deployment_id }) => deployment_id)).toEqual(['all3']);
  await start('all1', { workflowId: 'tune', mayQueue: true });
  expect((await executionsOf('all')).map(({ status }) => status).filter((s) => s === 'queued')).toHaveLength(
    1,
  );
});

test('a member of an execution group takes its components along when it begins, or fails with what keeps them', async () => {
  for (const n of [1, 2, 3]) deployed(`group${n}`, [`group${n}-part`]);
  deployed('group1-part', ['group1-leaf']);
  deployed('group1-leaf');
  deployed('group2-part', [], null);
  deployed('group3-part');
  engine.peer.groups.set('parents', ['group1', 'group2', 'group3']);
  const groupId = newId();
  await createExecutionGroup(
    engine.deps,
    {
      tenant: 'default_tenant',
      createdBy: 'bob',
      isAdministrator: true,
      groupId,
      deploymentGroupId: 'parents',
      workflowId: 'tune',
      defaultParameters: {},
      parameters: {},
      isForced: false,
      concurrency: 1,
      visibility: null,
      createdAt: null,
    },
    async () => null,
  );
  const started = async () =>
    (await executionsOf('group')).map(({ deployment_id, status }) => `${deployment_id} ${status}`);
  const all = async () => (await executionsOf('group')).map(({ id }) => id);
  await eventually(async () => expect(await started()).toHaveLength(5), DEADLINE);
  expect(await started()).toContain('group3 queued');
  const ids = Object.fromEntries((await executionsOf('group')).map((one) => [one.deployment_id, one.id]));
  for (const id of ['group1', 'group1-part', 'group1-leaf']) {
    expect(await row(ids[id]!)).toMatchObject({ created_by: 'bob', workflow_id: 'tune' });
    await worksTo(ids[id]!, 'terminated');
  }
  await statusIs(ids.group2!, 'failed');
  expect((await row(ids.group2!)).error).toContain(
    'group2-part is a component of group2, and tune cascades to it',
  );
  await eventually(async () => {
    await dequeueExecutions(engine.deps);
    expect(await all()).toHaveLength(6);
  }, DEADLINE);
  const last = (await executionsOf('group3')).map(({ id }) => id);
  for (const id of last) await worksTo(id, 'terminated');
  // Once the component has the workflow, a resume starts it there too.
  deployed('group2-part');
  await resumeExecution(engine.deps, ids.group2!, false);
  await eventually(
    async () => expect(await started()).toContainEqual(expect.stringMatching(/^group2-part /)),
    DEADLINE,
  );
});
